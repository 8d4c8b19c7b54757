//! Stops the tests' shared server when nobody has used it for ten seconds. Nothing but the standard library.
//!
//! `reaper <directory> <data directory> <process number of the server>`: every test process holds a shared lock on the file
//! `users.lock` while it lives and touches it when it starts, so an exclusive lock together with an old touch means nobody is
//! left.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, SystemTime};

const UNUSED: Duration = Duration::from_secs(10);
const STEP: Duration = Duration::from_millis(500);
const STOPPED_WITHIN: Duration = Duration::from_secs(30);

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [directory, data, server] = arguments.as_slice() else { return };
    let (lock, claim) = (&Path::new(directory).join("users.lock"), Path::new(data).join("postmaster.pid"));
    let Ok(reaping) = File::open(Path::new(directory).join("reaper.lock")) else { return };
    if reaping.try_lock().is_err() {
        return;
    }
    let mut quiet = Duration::ZERO;
    while claims(&claim, server) {
        sleep(STEP);
        // `cargo clean` took the lock file away: who starts next makes another one and another server.
        let Ok(file) = File::open(lock) else { break };
        if file.try_lock().is_err() {
            quiet = Duration::ZERO;
            continue;
        }
        quiet += STEP;
        if quiet >= UNUSED && untouched(lock) {
            // Held until the server is gone: a test that starts now waits for that, then starts another.
            stop(&claim, server);
            return;
        }
    }
    stop(&claim, server);
}

fn untouched(lock: &Path) -> bool {
    let touched = fs::metadata(lock).and_then(|found| found.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
    touched.elapsed().is_ok_and(|since| since >= UNUSED)
}

/// The server is the one we watch as long as its own pid file names it.
fn claims(claim: &Path, server: &str) -> bool {
    fs::read_to_string(claim).is_ok_and(|text| text.lines().next().is_some_and(|line| line.trim() == server))
}

fn stop(claim: &Path, server: &str) {
    if !claims(claim, server) {
        return;
    }
    let script = format!("kill -INT {server}");
    let _ = Command::new("/bin/sh").arg("-c").arg(script).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    let mut waited = Duration::ZERO;
    while claims(claim, server) && waited < STOPPED_WITHIN {
        sleep(Duration::from_millis(20));
        waited += Duration::from_millis(20);
    }
}
