//! The data directory: private, one process at a time where it matters, with the keys that `up` makes.

use std::{
    fs::{File, OpenOptions, TryLockError},
    io::{self, Read as _, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use ring::rand::{SecureRandom as _, SystemRandom};
use secrets::{DataKey, Secret};

use crate::failure::Failure;

/// A data directory that exists, closed to others. (Root leaves it open for passing through: the private server runs as
/// another account. What is secret in it is protected file by file.)
#[derive(Debug)]
pub struct DataDir {
    root: PathBuf,
}

/// Held while `up` runs on a data directory; the operating system lets go of it when the process dies.
#[derive(Debug)]
pub struct Held {
    _file: File,
}

impl DataDir {
    /// Makes it where it is missing.
    ///
    /// # Errors
    /// [`Failure::Unavailable`] when it cannot be made.
    pub fn open(root: &Path) -> Result<Self, Failure> {
        let root = cluster::prepare(root).map_err(|error| {
            Failure::unavailable(format!("the data directory {} cannot be made: {error}", root.display()))
        })?;
        Ok(Self { root })
    }

    /// Its absolute path.
    pub fn path(&self) -> &Path {
        &self.root
    }

    /// Makes this process the only one that works here.
    ///
    /// # Errors
    /// [`Failure::Unavailable`] when another one does already.
    pub fn hold(&self) -> Result<Held, Failure> {
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(0o600)
            .open(self.root.join("lock"))?;
        match file.try_lock() {
            Ok(()) => Ok(Held { _file: file }),
            Err(TryLockError::WouldBlock) => Err(Failure::unavailable(format!(
                "another process works in {} already: stop it first",
                self.root.display()
            ))),
            Err(TryLockError::Error(error)) => Err(error.into()),
        }
    }

    /// The bearer token of the admin routes, made at the first call.
    ///
    /// # Errors
    /// [`Failure::Unavailable`] when it can be neither read nor written.
    pub fn operator_token(&self) -> Result<Secret<String>, Failure> {
        self.kept("operator-token")
            .map(|bytes| Secret::new(format!("op_{}", hex(&bytes))))
    }

    /// The key that seals credentials, made at the first call.
    ///
    /// # Errors
    /// As [`Self::operator_token`].
    pub fn data_key(&self) -> Result<DataKey, Failure> {
        let text = BASE64_STANDARD.encode(self.kept("data-key")?);
        DataKey::parse(&text).map_err(Failure::unavailable)
    }

    /// 32 random bytes under a name, the same at every call.
    fn kept(&self, name: &str) -> Result<[u8; 32], Failure> {
        let path = self.root.join(name);
        match OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path) {
            Ok(mut file) => {
                let mut bytes = [0; 32];
                SystemRandom::new()
                    .fill(&mut bytes)
                    .map_err(|_| Failure::unavailable("no random numbers are to be had"))?;
                file.write_all(&bytes)?;
                file.sync_all()?;
                Ok(bytes)
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                let mut bytes = [0; 32];
                File::open(&path)?.read_exact(&mut bytes).map_err(|error| {
                    Failure::unavailable(format!(
                        "{} is damaged ({error}): remove it to make a new one",
                        path.display()
                    ))
                })?;
                Ok(bytes)
            }
            Err(error) => Err(error.into()),
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn keys_are_made_once_and_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        let dir = DataDir::open(&folder.path().join("data")).expect("made");
        let first = dir.operator_token().expect("a token").expose().clone();
        assert_eq!(first.len(), 67);
        assert_eq!(dir.operator_token().expect("the same").expose(), &first);
        fs::write(dir.path().join("operator-token"), b"short").expect("written");
        assert!(dir.operator_token().is_err());
    }

    #[test]
    fn one_process_at_a_time() {
        let folder = tempfile::tempdir().expect("a folder");
        let dir = DataDir::open(folder.path()).expect("made");
        let held = dir.hold().expect("free");
        assert!(matches!(dir.hold(), Err(Failure::Unavailable(_))));
        drop(held);
        assert!(dir.hold().is_ok());
    }
}
