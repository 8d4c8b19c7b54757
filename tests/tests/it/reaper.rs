//! The shared server: joined by every process, stopped soon after the last one, swept when a killed test left something.

use sqlx::Connection as _;
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tests::TestDb;

/// A target directory of its own: the harness takes the one that the running program lies in.
struct Target {
    directory: tempfile::TempDir,
}

impl Target {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        std::fs::set_permissions(directory.path(), std::fs::Permissions::from_mode(0o711)).unwrap();
        std::fs::write(directory.path().join("CACHEDIR.TAG"), "").unwrap();
        std::fs::copy(std::env::current_exe().unwrap(), directory.path().join("program")).unwrap();
        Self { directory }
    }

    /// Runs this test program from there, for the one ignored test below; answers when that holds its database.
    fn user(&self) -> (Child, Vec<String>) {
        let mut command = Command::new(self.directory.path().join("program"));
        command.args(["reaper::holds_a_database", "--exact", "--ignored", "--nocapture"]);
        command
            .env_remove("APP_TEST_DATABASE_URL")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        let databases = lines.find_map(|line| line.split_once("databases ").map(|(_, list)| list.to_owned()));
        // The rest of what it prints must have somewhere to go.
        std::thread::spawn(move || lines.count());
        let databases = databases.expect("the child said which test databases it sees");
        (
            child,
            databases
                .split(',')
                .filter(|name| !name.is_empty())
                .map(str::to_owned)
                .collect(),
        )
    }

    fn server(&self) -> Option<i32> {
        let file: PathBuf = self
            .directory
            .path()
            .join("test-server/server/postgres/data/postmaster.pid");
        std::fs::read_to_string(file).ok()?.lines().next()?.trim().parse().ok()
    }

    async fn await_stop(&self, server: i32) {
        let deadline = Instant::now() + Duration::from_secs(40);
        while self.server().is_some() || Path::new(&format!("/proc/{server}/cwd")).exists() {
            assert!(Instant::now() < deadline, "the server was not stopped");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
}

#[tokio::test]
async fn the_shared_server_is_joined_stopped_and_swept() {
    let target = Target::new();
    let (mut first, seen) = target.user();
    assert_eq!(seen.len(), 1, "its own database only: {seen:?}");
    let server = target.server().unwrap();
    let (second, seen) = target.user();
    assert_eq!(
        (target.server(), seen.len()),
        (Some(server), 2),
        "it joined the same server"
    );
    end(second);
    first.kill().unwrap();
    first.wait().unwrap();
    assert_eq!(target.server(), Some(server), "it runs on for a while");
    target.await_stop(server).await;

    let (third, seen) = target.user();
    assert_eq!(seen.len(), 1, "what the killed process left is gone: {seen:?}");
    let server = target.server().unwrap();
    end(third);
    target.await_stop(server).await;
}

/// In order: its database is dropped before it ends.
fn end(mut child: Child) {
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
}

#[tokio::test]
#[ignore = "not a test: the body of the child process"]
async fn holds_a_database() {
    let database = TestDb::new().await;
    let mut connection = sqlx::PgConnection::connect(&database.owner_url).await.unwrap();
    let list =
        "select coalesce(string_agg(datname, ','), '') from pg_database where datname like 'omniflow\\_test\\_%'";
    let databases: String = sqlx::query_scalar(list).fetch_one(&mut connection).await.unwrap();
    println!("databases {databases}");
    let _ = tokio::task::spawn_blocking(|| std::io::stdin().read(&mut [0])).await;
}
