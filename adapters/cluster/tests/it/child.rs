//! A process of its own that owns a server until it is killed: this test program, run again for one ignored test.

use crate::ground::{quick_at, run};
use cluster::{Account, Cluster};
use std::io::{BufRead as _, BufReader, ErrorKind};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;

const DIRECTORY: &str = "CLUSTER_TEST_DIRECTORY";

pub(crate) struct Parent {
    process: Child,
    /// Process number of the server it owns.
    pub(crate) server: i32,
    _program: TempDir,
}

impl Parent {
    /// `kill -9`: it has no chance to stop its server.
    pub(crate) fn kill(mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    /// Lets it end in order.
    pub(crate) fn end(mut self) {
        drop(self.process.stdin.take());
        assert!(self.process.wait().unwrap().success());
    }
}

/// A process that another test forks while the copy is being written holds it open until it starts its own program.
#[expect(clippy::disallowed_methods, reason = "rare, a moment, and in the test's own thread")]
fn spawn(command: &mut Command) -> Child {
    for _ in 0..100 {
        match command.spawn() {
            Err(busy) if busy.kind() == ErrorKind::ExecutableFileBusy => {
                std::thread::sleep(Duration::from_millis(20));
            }
            spawned => return spawned.unwrap(),
        }
    }
    panic!("the copy stays busy");
}

/// Starts the process, as another account if one is given, and waits until its server runs.
pub(crate) fn own_a_server(directory: &Path, account: Option<&Account>) -> Parent {
    // A copy, because the build directory may be closed to the other account.
    let program = tempfile::tempdir().unwrap();
    std::fs::set_permissions(program.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let copy = program.path().join("child");
    std::fs::copy(std::env::current_exe().unwrap(), &copy).unwrap();
    std::fs::set_permissions(&copy, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = Command::new(copy);
    command.args(["child::owns_a_server", "--exact", "--ignored", "--nocapture"]);
    command
        .env(DIRECTORY, directory)
        .current_dir(program.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    if let Some(account) = account {
        command.uid(account.uid).gid(account.gid);
    }
    let mut process = spawn(&mut command);
    let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
    let server = lines.find_map(|line| {
        line.unwrap()
            .split_once("server ")
            .and_then(|(_, pid)| pid.parse().ok())
    });
    let server = server.expect("the child said which server it owns");
    // The rest of what it prints must have somewhere to go.
    std::thread::spawn(move || lines.count());
    Parent {
        process,
        server,
        _program: program,
    }
}

#[tokio::test]
#[ignore = "not a test: the body of the child process"]
#[expect(
    clippy::disallowed_methods,
    reason = "the parent hands the directory over by this variable"
)]
async fn owns_a_server() {
    let Ok(directory) = std::env::var(DIRECTORY) else {
        return;
    };
    let cluster = Cluster::start(&quick_at(Path::new(&directory))).await.unwrap();
    run(
        &cluster,
        "create table if not exists written_by_child as select 7 as n; checkpoint",
    )
    .await;
    println!("server {}", cluster.pid());
    let _ = tokio::task::spawn_blocking(|| std::io::stdin().read_line(&mut String::new())).await;
    cluster.stop().await.unwrap();
}
