//! The directory of the installation.

use crate::error::{At as _, ClusterError};
use std::fs;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

/// Makes the directory of an installation (and its parents) unless it is there; answers its absolute path.
///
/// It is closed to others, but when we are root it may be passed through, because the database runs as another account;
/// what is secret in it is protected file by file.
pub fn prepare(data_dir: &Path) -> Result<PathBuf, ClusterError> {
    let mode = if crate::is_root() { 0o711 } else { 0o700 };
    if !data_dir.is_dir() {
        fs::DirBuilder::new()
            .recursive(true)
            .mode(mode)
            .create(data_dir)
            .at(data_dir)?;
    }
    fs::canonicalize(data_dir).at(data_dir)
}
