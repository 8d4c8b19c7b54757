//! One server for all test processes of a target directory. The first that needs it starts it; every process holds a shared
//! lock while it lives; a detached reaper stops the server when the lock has been free for ten seconds.

use crate::admin::Admin;
use crate::sweep;
use cluster::{Cluster, Options, standing};
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions, Permissions};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, SystemTime};
use tokio::sync::OnceCell;

/// The variable that points the tests at a server that is running already.
const GIVEN: &str = "APP_TEST_DATABASE_URL";
const REAPER: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/reaper"));

static ADMIN: OnceCell<Admin> = OnceCell::const_new();
/// Held until the process ends, however it ends.
static IN_USE: OnceLock<File> = OnceLock::new();

/// The administrator's access to the server of this test run.
pub(crate) async fn admin() -> &'static Admin {
    ADMIN.get_or_init(reach).await
}

async fn reach() -> Admin {
    match variable(GIVEN) {
        Some(url) => {
            let admin = Admin::new(url);
            sweep::left_behind(&admin).await;
            admin
        }
        None => start_or_join(&directory()).await,
    }
}

async fn start_or_join(directory: &Path) -> Admin {
    fs::create_dir_all(directory).unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
    hold(&directory.join("users.lock"));
    let starting = open(&directory.join("starting.lock"));
    starting
        .lock()
        .unwrap_or_else(|error| panic!("the start cannot be locked: {error}"));
    let data_dir = directory.join("server");
    if let Ok(running) = Cluster::attach(&data_dir).await {
        watch(directory, &running);
        return Admin::new(running.owner_url("postgres"));
    }
    let server = standing::up(&options(data_dir))
        .await
        .unwrap_or_else(|error| panic!("{error}"));
    watch(directory, &server);
    let admin = Admin::new(server.owner_url("postgres"));
    // Nobody else can be using a server that was not running: what is there was left by killed tests.
    sweep::everything(&admin).await;
    admin
}

fn options(data_dir: PathBuf) -> Options {
    let parameters = [
        ("wal_level", "minimal"),
        ("max_wal_senders", "0"),
        ("autovacuum", "off"),
        ("max_wal_size", "512MB"),
    ];
    Options {
        settings: settings(),
        durable: false,
        max_connections: 400,
        shared_buffers_mb: 128,
        parameters: parameters
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect(),
        ..Options::new(data_dir)
    }
}

/// What the cluster crate needs of the environment.
pub(crate) fn settings() -> BTreeMap<String, String> {
    ["PATH", "APP_PG_BIN"]
        .into_iter()
        .filter_map(|name| Some((name.to_owned(), variable(name)?)))
        .collect()
}

/// Blocks while a reaper is stopping the server, then keeps reapers off.
fn hold(path: &Path) {
    let file = open(path);
    file.lock_shared()
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let _ = file.set_modified(SystemTime::now());
    let _ = IN_USE.set(file);
}

fn open(path: &Path) -> File {
    let mut options = OpenOptions::new();
    options.create(true).append(true);
    options
        .open(path)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Lets a reaper go unless one watches: in a process group of its own and with none of our pipes, so that nobody waits for
/// it.
fn watch(directory: &Path, server: &Cluster) {
    let reaping = directory.join("reaper.lock");
    if open(&reaping).try_lock().is_err() {
        return;
    }
    let program = directory.join(format!("reaper-{}", std::process::id()));
    let written =
        fs::write(&program, REAPER).and_then(|()| fs::set_permissions(&program, Permissions::from_mode(0o755)));
    written.unwrap_or_else(|error| panic!("{}: {error}", program.display()));
    let mut command = Command::new(&program);
    command
        .arg(directory)
        .arg(server.directory().join("data"))
        .arg(server.pid().to_string());
    command
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0);
    for _ in 0..100 {
        match command.spawn() {
            Ok(_) => break,
            // Another thread forked while the file was open for writing; its child lets go when it starts its program.
            Err(error) if error.kind() == ErrorKind::ExecutableFileBusy => {
                std::thread::sleep(Duration::from_millis(10));
            }
            Err(error) => panic!("the reaper cannot be started: {error}"),
        }
    }
    let _ = fs::remove_file(&program);
}

/// In the target directory that this test program was built in, so that two checkouts have two servers.
fn directory() -> PathBuf {
    let program = std::env::current_exe().unwrap_or_default();
    let target = program
        .ancestors()
        .find(|ancestor| ancestor.join("CACHEDIR.TAG").is_file());
    target.map_or_else(temporary, |target| target.join("test-server"))
}

fn temporary() -> PathBuf {
    let mut hasher = DefaultHasher::new();
    env!("CARGO_MANIFEST_DIR").hash(&mut hasher);
    std::env::temp_dir().join(format!("omniflow-tests-{:016x}", hasher.finish()))
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}
