//! A folder in which `up` runs, and what it leaves there.

use std::{
    fs,
    os::unix::fs::{PermissionsExt as _, chown},
    path::{Path, PathBuf},
};

use cluster::Cluster;
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

/// An empty folder. What `up` put elsewhere for it (the database of a closed home) is removed with it.
#[derive(Debug)]
pub(crate) struct Folder {
    _root: TempDir,
    path: PathBuf,
}

impl Folder {
    /// Open for passing through, so that the database's account can reach it.
    pub(crate) fn new() -> Self {
        Self::below(0o711, None)
    }

    /// Inside a home that is closed to everybody else.
    pub(crate) fn in_a_closed_home() -> Self {
        Self::below(0o700, None)
    }

    /// Of an account, inside its home that is closed to everybody else.
    pub(crate) fn of(account: u32) -> Self {
        Self::below(0o700, Some(account))
    }

    fn below(mode: u32, account: Option<u32>) -> Self {
        let root = tempfile::tempdir().expect("a folder");
        let path = root.path().join("shop");
        fs::create_dir(&path).expect("a folder in it");
        for folder in [root.path(), &path] {
            fs::set_permissions(folder, fs::Permissions::from_mode(mode)).expect("ours");
            if account.is_some() {
                chown(folder, account, account).expect("we are root");
            }
        }
        Self { _root: root, path }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.path.join(".omniflow")
    }

    /// Where the database of this folder was moved, if it was.
    pub(crate) fn moved_to(&self) -> Option<PathBuf> {
        let place = fs::read_to_string(self.data().join("postgres.place")).ok()?;
        Some(PathBuf::from(place.trim())).filter(|place| place.is_absolute())
    }

    /// The running database, as the owner of its tables.
    pub(crate) async fn database(&self) -> sqlx::PgPool {
        let server = Cluster::attach(&self.data()).await.expect("it runs");
        let pool = sqlx::PgPool::connect(&server.owner_url("omniflow")).await;
        pool.expect("it answers")
    }

    /// The database servers that run on a database of this folder.
    pub(crate) fn servers(&self) -> Vec<Pid> {
        let places: Vec<_> = [Some(self.data()), self.moved_to()]
            .into_iter()
            .flatten()
            .map(|place| place.display().to_string())
            .collect();
        let mut servers = Vec::new();
        for entry in fs::read_dir("/proc").expect("processes").flatten() {
            let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
            let line = String::from_utf8_lossy(&line);
            let ours = line.contains("postgres") && places.iter().any(|place| line.contains(place));
            let pid = entry.file_name().to_string_lossy().parse().ok().and_then(Pid::from_raw);
            servers.extend(pid.filter(|_| ours));
        }
        servers
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A test that failed may have left the server of a killed process.
        for server in self.servers() {
            let _stopped = kill_process(server, Signal::QUIT);
        }
        if let Some(moved) = self.moved_to() {
            let _removed = fs::remove_dir_all(moved);
        }
    }
}
