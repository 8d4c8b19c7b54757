//! Directories and connections for these tests.

use cluster::{Cluster, Options};
use sqlx::{Connection as _, PgConnection};
use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use tempfile::TempDir;

/// A directory that any account may pass through, as a checkout usually is.
pub(crate) fn open_directory() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    std::fs::set_permissions(directory.path(), std::fs::Permissions::from_mode(0o711)).unwrap();
    directory
}

/// Options that make a test quick: no syncing, little memory.
pub(crate) fn quick(directory: &TempDir) -> Options {
    quick_at(directory.path())
}

pub(crate) fn quick_at(directory: &Path) -> Options {
    let options = Options::new(directory);
    Options {
        settings: settings(),
        durable: false,
        max_connections: 20,
        shared_buffers_mb: 16,
        ..options
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a test hands the few settings on that the crate itself must not read"
)]
pub(crate) fn settings() -> BTreeMap<String, String> {
    ["PATH", "APP_PG_BIN"]
        .into_iter()
        .filter_map(|name| Some((name.to_owned(), std::env::var(name).ok()?)))
        .collect()
}

pub(crate) async fn count(cluster: &Cluster, statement: &'static str) -> Result<i64, sqlx::Error> {
    let mut connection = PgConnection::connect(&cluster.owner_url("postgres")).await?;
    sqlx::query_scalar(statement).fetch_one(&mut connection).await
}

pub(crate) async fn run(cluster: &Cluster, statement: &'static str) {
    let mut connection = PgConnection::connect(&cluster.owner_url("postgres")).await.unwrap();
    sqlx::raw_sql(statement).execute(&mut connection).await.unwrap();
}

/// Whether a process with this number exists.
pub(crate) fn is_alive(pid: i32) -> bool {
    rustix::process::Pid::from_raw(pid).is_some_and(|pid| rustix::process::test_kill_process(pid).is_ok())
}

pub(crate) fn kill(pid: i32) {
    rustix::process::kill_process(
        rustix::process::Pid::from_raw(pid).unwrap(),
        rustix::process::Signal::KILL,
    )
    .unwrap();
}
