//! Files that hold secrets: readable by their owner only, replaced whole, never seen half written.

use std::{
    fs::{self, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _},
    path::Path,
};

use serde::{Serialize, de::DeserializeOwned};

use crate::SandboxError;

/// Makes a folder that only its owner can enter. One that exists is left as it is.
pub(crate) fn make_dir(path: &Path) -> Result<(), SandboxError> {
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
        .map_err(SandboxError::file(path))
}

/// Writes a value as JSON to a file of mode 0600, beside first and then in place.
pub(crate) fn write<T: Serialize>(path: &Path, value: &T) -> Result<(), SandboxError> {
    let beside = path.with_extension("new");
    let write = || -> io::Result<()> {
        let mut text = serde_json::to_vec_pretty(value).map_err(io::Error::other)?;
        text.push(b'\n');
        let _ = fs::remove_file(&beside);
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&beside)?;
        file.write_all(&text)?;
        file.sync_data()?;
        fs::rename(&beside, path)
    };
    write().map_err(SandboxError::file(path))
}

/// Reads what [`write()`] wrote; `None` when there is no such file.
pub(crate) fn read<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, SandboxError> {
    match fs::read(path) {
        Ok(text) => serde_json::from_slice(&text)
            .map(Some)
            .map_err(|_| SandboxError::DamagedFile { path: path.to_owned() }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(SandboxError::file(path)(error)),
    }
}
