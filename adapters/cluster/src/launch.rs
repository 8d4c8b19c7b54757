//! Starting the server process and waiting until it proves itself.

use crate::account::Account;
use crate::error::{At as _, ClusterError};
use crate::place::Place;
use crate::proof;
use crate::server_programs::ServerPrograms;
use crate::state_file::State;
use std::fs::{self, OpenOptions};
use std::net::TcpListener;
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Recovery after a crash may take this long.
const PATIENCE: Duration = Duration::from_mins(2);
const STEP: Duration = Duration::from_millis(10);
/// Backends of a killed server hold its shared memory for a moment.
const SHARED_MEMORY: &str = "pre-existing shared memory block";
const SHARED_MEMORY_TRIES: u32 = 40;
const LONGEST_LOG: u64 = 16 * 1024 * 1024;

/// A program of the server, with its account, a known environment, and apart from our terminal's signals.
pub(crate) fn command(program: &Path, directory: &Path, account: Option<&Account>) -> Command {
    let mut command = Command::new(program);
    command
        .env_clear()
        .env("LC_ALL", "C")
        .env("PATH", "/usr/bin:/bin:/usr/sbin:/sbin")
        .env("TZ", "UTC");
    command.stdin(Stdio::null()).current_dir(directory).process_group(0);
    if let Some(account) = account {
        command.uid(account.uid).gid(account.gid);
    }
    command
}

/// Starts the server; answers when a connection has proved that it serves this place.
pub(crate) async fn start(
    place: &Place,
    programs: &ServerPrograms,
    account: Option<&Account>,
    state: &State,
    password: &str,
) -> Result<Child, ClusterError> {
    for _ in 0..SHARED_MEMORY_TRIES {
        let log_start = open_log_size(place);
        let mut child = spawn(place, programs, account, state)?;
        match await_ready(&mut child, place, password).await {
            Ok(()) => return Ok(child),
            Err(error) => {
                crate::stop::abandon(&mut child);
                let log = log_since(place, log_start);
                if !log.contains(SHARED_MEMORY) {
                    return Err(explain(error, &log));
                }
            }
        }
        tokio::time::sleep(Duration::from_millis(250)).await;
    }
    Err(ClusterError::Start(
        "processes of an earlier server still hold its memory".to_owned(),
    ))
}

fn spawn(
    place: &Place,
    programs: &ServerPrograms,
    account: Option<&Account>,
    state: &State,
) -> Result<Child, ClusterError> {
    let path = place.log_file();
    let too_long = fs::metadata(&path).is_ok_and(|found| found.len() > LONGEST_LOG);
    let mut open = OpenOptions::new();
    open.create(true).mode(0o600);
    let log = if too_long {
        open.write(true).truncate(true)
    } else {
        open.append(true)
    }
    .open(&path)
    .at(&path)?;
    let twin = log.try_clone().at(&path)?;
    let data = place.data();
    let mut command = command(&programs.bin.join("postgres"), &data, account);
    command.arg("-D").arg(&data).stdout(log).stderr(twin);
    for parameter in &state.parameters {
        command.arg("-c").arg(parameter);
    }
    command
        .arg("-c")
        .arg(format!("unix_socket_directories={}", state.socket_dir.display()));
    let addresses = if state.loopback { "127.0.0.1" } else { "" };
    command
        .arg("-c")
        .arg(format!("listen_addresses={addresses}"))
        .arg("-c")
        .arg(format!("port={}", state.port));
    command
        .spawn()
        .map_err(|error| ClusterError::Start(format!("{}: {error}", programs.bin.join("postgres").display())))
}

async fn await_ready(child: &mut Child, place: &Place, password: &str) -> Result<(), ClusterError> {
    let deadline = Instant::now() + PATIENCE;
    let pid = i32::try_from(child.id()).unwrap_or(i32::MAX);
    loop {
        if let Ok(Some(status)) = child.try_wait() {
            return Err(ClusterError::Start(format!("it ended ({status})")));
        }
        let claimed = crate::pid_file::PidFile::read(&place.data()).is_some_and(|file| file.pid == pid);
        if claimed && proof::is_ours(place, password).await {
            return Ok(());
        }
        if Instant::now() > deadline {
            return Err(ClusterError::Start(format!(
                "no answer within {} s",
                PATIENCE.as_secs()
            )));
        }
        tokio::time::sleep(STEP).await;
    }
}

/// A port of 127.0.0.1 that is free now; the earlier one when it still is, so that addresses stay the same over restarts.
pub(crate) fn free_port(earlier: Option<u16>) -> Result<u16, ClusterError> {
    let unusable = |error: std::io::Error| ClusterError::Start(format!("no port on 127.0.0.1: {error}"));
    let listener = earlier.and_then(|port| TcpListener::bind(("127.0.0.1", port)).ok());
    let listener = listener
        .map_or_else(|| TcpListener::bind(("127.0.0.1", 0)), Ok)
        .map_err(unusable)?;
    Ok(listener.local_addr().map_err(unusable)?.port())
}

fn open_log_size(place: &Place) -> u64 {
    fs::metadata(place.log_file()).map_or(0, |found| found.len())
}

fn log_since(place: &Place, start: u64) -> String {
    let bytes = fs::read(place.log_file()).unwrap_or_default();
    let tail = usize::try_from(start)
        .ok()
        .and_then(|start| bytes.get(start..))
        .unwrap_or(&bytes);
    String::from_utf8_lossy(tail).into_owned()
}

fn explain(error: ClusterError, log: &str) -> ClusterError {
    let lines: Vec<&str> = log.lines().filter(|line| !line.trim().is_empty()).collect();
    let tail = lines
        .get(lines.len().saturating_sub(6)..)
        .unwrap_or_default()
        .join("\n  ");
    match error {
        ClusterError::Start(text) if !tail.is_empty() => ClusterError::Start(format!("{text}; it said:\n  {tail}")),
        other => other,
    }
}
