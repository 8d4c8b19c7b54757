//! Files behind rows that expire. A file is named by the digest of its content, so one file may stand behind several rows, and only whoever
//! deletes rows can tell which files nothing names any more.
//!
//! The caller reads the digests of expiring rows inside the transaction that deletes them, deletes the rows, reads which of those digests
//! surviving rows still name, and commits. Only then may files go: a commit that fails must cost no bytes.

use std::{collections::BTreeSet, future::Future};

/// Where the bytes are.
pub trait AttachmentFiles: Send + Sync {
    /// Why a file did not go. Its text names no path.
    type Error: std::error::Error + Send;

    /// Removes one file. One that is not there counts as removed: a sweep that died half-way is repeated.
    ///
    /// # Errors
    /// When the file may still be there.
    fn remove(&self, digest: &str) -> impl Future<Output = Result<(), Self::Error>> + Send;
}

/// What became of the files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Removed {
    /// Files that are gone.
    pub files: u64,
    /// Digests whose file would not go. The caller keeps them: their rows are deleted, so nobody else knows of these files.
    pub stuck: BTreeSet<String>,
}

/// Files of deleted rows that no surviving row names.
pub fn unreferenced(deleted: &BTreeSet<String>, surviving: &BTreeSet<String>) -> BTreeSet<String> {
    deleted.difference(surviving).cloned().collect()
}

/// Removes files after the rows are gone for good. One that will not go is logged and does not stop the others. Without a place for files the
/// rows were all there was: the bytes are somebody else's.
pub async fn remove_files<F: AttachmentFiles>(files: Option<&F>, digests: &BTreeSet<String>) -> Removed {
    let mut removed = Removed::default();
    let Some(files) = files else {
        return removed;
    };
    for digest in digests {
        match files.remove(digest).await {
            Ok(()) => removed.files = removed.files.saturating_add(1),
            Err(error) => {
                tracing::warn!(digest, %error, "an attachment's file was not removed");
                removed.stuck.insert(digest.clone());
            }
        }
    }
    removed
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("denied")]
    struct Denied;

    #[derive(Default)]
    struct Folder {
        present: Mutex<BTreeSet<String>>,
        locked: BTreeSet<String>,
    }

    impl AttachmentFiles for Folder {
        type Error = Denied;

        async fn remove(&self, digest: &str) -> Result<(), Denied> {
            if self.locked.contains(digest) {
                return Err(Denied);
            }
            self.present.lock().unwrap().remove(digest);
            Ok(())
        }
    }

    fn digests(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn a_file_goes_with_the_last_row_that_names_it() {
        // Two rows name `a`, one of them expires: the file stays. Then the other one does.
        assert!(unreferenced(&digests(&["a"]), &digests(&["a", "b"])).is_empty());
        assert_eq!(
            unreferenced(&digests(&["a", "c"]), &digests(&["b"])),
            digests(&["a", "c"])
        );
    }

    #[tokio::test]
    async fn a_file_that_will_not_go_is_told_and_stops_nobody() {
        let folder = Folder {
            present: Mutex::new(digests(&["a", "b", "c", "kept"])),
            locked: digests(&["b"]),
        };
        let removed = remove_files(Some(&folder), &digests(&["a", "b", "c", "gone before"])).await;
        assert_eq!((removed.files, removed.stuck), (3, digests(&["b"])));
        assert_eq!(*folder.present.lock().unwrap(), digests(&["b", "kept"]));
    }

    #[tokio::test]
    async fn without_a_place_for_files_only_rows_go() {
        assert_eq!(remove_files::<Folder>(None, &digests(&["a"])).await, Removed::default());
    }
}
