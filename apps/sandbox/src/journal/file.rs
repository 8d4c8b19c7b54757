//! The file: append one line, read all lines, forget a torn last one.

use std::{
    fs::{File, OpenOptions},
    io::{BufRead as _, BufReader, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
};

use domain::time::Timestamp;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::SandboxError;

/// One line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry<E> {
    /// From 1, without gaps.
    pub seq: u64,
    /// By the sandbox's clock.
    pub at: Timestamp,
    pub effect: E,
}

/// The writing end. One a file.
#[derive(Debug)]
pub struct Journal {
    file: File,
    path: PathBuf,
    next: u64,
}

impl Journal {
    /// Opens or makes a journal and hands over what it holds, in order. A torn last line is cut off: its answer was never sent.
    ///
    /// # Errors
    /// The file cannot be used, or a line before the last cannot be read.
    pub fn open<E: DeserializeOwned>(path: &Path, each: impl FnMut(&Entry<E>)) -> Result<Self, SandboxError> {
        let file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .mode(0o600)
            .open(path)
            .map_err(SandboxError::file(path))?;
        let Scanned {
            whole_bytes,
            total_bytes,
            last,
        } = scan(&file, path, each)?;
        if whole_bytes < total_bytes {
            file.set_len(whole_bytes).map_err(SandboxError::file(path))?;
        }
        Ok(Self {
            file,
            path: path.to_owned(),
            next: last.saturating_add(1),
        })
    }

    /// Writes one effect. Only after this has returned may the effect be answered for.
    ///
    /// # Errors
    /// The line was not written whole: the effect has not happened.
    pub fn append<E: Serialize>(&mut self, at: Timestamp, effect: E) -> Result<Entry<E>, SandboxError> {
        let entry = Entry {
            seq: self.next,
            at,
            effect,
        };
        let failed = SandboxError::file(&self.path);
        let mut line = match serde_json::to_vec(&entry) {
            Ok(line) => line,
            Err(error) => return Err(failed(error.into())),
        };
        line.push(b'\n');
        match self.file.write(&line) {
            Ok(written) if written == line.len() => {
                self.next = self.next.saturating_add(1);
                Ok(entry)
            }
            Ok(written) => {
                // A full disk. The half line must go, or the next one would be glued to it.
                let length = self.file.metadata().map_or(0, |meta| meta.len());
                let before = length.saturating_sub(u64::try_from(written).unwrap_or(0));
                self.file.set_len(before).map_err(SandboxError::file(&self.path))?;
                Err(failed(std::io::ErrorKind::WriteZero.into()))
            }
            Err(error) => Err(failed(error)),
        }
    }
}

/// Reads a journal that may be in use by a running sandbox. A file that is not there yet is empty.
///
/// # Errors
/// The file cannot be read, or a line before the last cannot be.
pub fn read_entries<E: DeserializeOwned>(path: &Path, each: impl FnMut(&Entry<E>)) -> Result<(), SandboxError> {
    match File::open(path) {
        Ok(file) => scan(&file, path, each).map(|_| ()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(SandboxError::file(path)(error)),
    }
}

struct Scanned {
    whole_bytes: u64,
    total_bytes: u64,
    last: u64,
}

fn scan<E: DeserializeOwned>(
    file: &File,
    path: &Path,
    mut each: impl FnMut(&Entry<E>),
) -> Result<Scanned, SandboxError> {
    let mut reader = BufReader::new(file);
    let mut scanned = Scanned {
        whole_bytes: 0,
        total_bytes: 0,
        last: 0,
    };
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = reader.read_until(b'\n', &mut line).map_err(SandboxError::file(path))?;
        if read == 0 {
            return Ok(scanned);
        }
        scanned.total_bytes = scanned
            .total_bytes
            .saturating_add(u64::try_from(read).unwrap_or(u64::MAX));
        if line.last() != Some(&b'\n') {
            return Ok(scanned);
        }
        let expected = scanned.last.saturating_add(1);
        match serde_json::from_slice::<Entry<E>>(&line) {
            Ok(entry) if entry.seq == expected => each(&entry),
            _ => {
                return Err(SandboxError::DamagedJournal {
                    path: path.to_owned(),
                    line: expected,
                });
            }
        }
        scanned.last = expected;
        scanned.whole_bytes = scanned.total_bytes;
    }
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;
    use proptest::prelude::*;

    use super::*;

    fn read(path: &Path) -> Vec<String> {
        let mut effects = Vec::new();
        read_entries::<String>(path, |entry| effects.push(entry.effect.clone())).unwrap();
        effects
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Wherever a crash cuts the file, what is left is a prefix, and writing goes on behind it.
        #[test]
        fn cut_anywhere(effects in prop::collection::vec(any::<String>(), 1..8), cut in any::<prop::sample::Index>()) {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("x.journal.jsonl");
            let mut journal = Journal::open::<String>(&path, |_| {}).unwrap();
            let mut ends = vec![0];
            for effect in &effects {
                journal.append(DateTime::UNIX_EPOCH, effect.clone()).unwrap();
                ends.push(std::fs::metadata(&path).unwrap().len());
            }
            prop_assert_eq!(&read(&path), &effects);

            let bytes = std::fs::read(&path).unwrap();
            let cut = cut.index(bytes.len() + 1);
            std::fs::write(&path, &bytes[..cut]).unwrap();
            let whole = ends.iter().filter(|end| **end <= u64::try_from(cut).unwrap()).count() - 1;
            prop_assert_eq!(&read(&path), &effects[..whole]);

            let mut kept = Vec::new();
            let mut journal = Journal::open::<String>(&path, |entry| kept.push(entry.effect.clone())).unwrap();
            prop_assert_eq!(&kept, &effects[..whole]);
            let entry = journal.append(DateTime::UNIX_EPOCH, "after".to_owned()).unwrap();
            prop_assert_eq!(entry.seq, u64::try_from(whole).unwrap() + 1);
            kept.push("after".to_owned());
            prop_assert_eq!(read(&path), kept);
        }
    }
}
