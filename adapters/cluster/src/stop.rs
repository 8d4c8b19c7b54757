//! Stopping a server: politely first, at once if that takes too long. Synchronous, because it must work in `Drop`.

use crate::error::ClusterError;
use crate::pid_file;
use rustix::process::{Pid, Signal, kill_process};
use std::process::Child;
use std::time::{Duration, Instant};

/// A fast stop takes hundredths of a second, a busy one longer.
const POLITE: Duration = Duration::from_secs(30);
const AT_ONCE: Duration = Duration::from_secs(10);
const STEP: Duration = Duration::from_millis(5);

/// Stops the server that was proved to be ours. Its clients are cut off, committed work is kept.
pub(crate) fn server(pid: i32, mut child: Option<&mut Child>) -> Result<(), ClusterError> {
    for (signal, patience) in [(Signal::INT, POLITE), (Signal::QUIT, AT_ONCE)] {
        send(pid, signal);
        let deadline = Instant::now() + patience;
        while Instant::now() < deadline {
            if is_gone(pid, child.as_deref_mut()) {
                return Ok(());
            }
            pause();
        }
    }
    Err(ClusterError::Stop(pid))
}

/// Gets rid of a server that did not become ready.
pub(crate) fn abandon(child: &mut Child) {
    let deadline = Instant::now() + AT_ONCE;
    if let Ok(pid) = i32::try_from(child.id()) {
        send(pid, Signal::QUIT);
    }
    while matches!(child.try_wait(), Ok(None)) {
        if Instant::now() > deadline {
            let _ = child.kill();
            let _ = child.wait();
            return;
        }
        pause();
    }
}

fn send(pid: i32, signal: Signal) {
    if let Some(process) = Pid::from_raw(pid) {
        let _ = kill_process(process, signal);
    }
}

fn is_gone(pid: i32, child: Option<&mut Child>) -> bool {
    match child {
        Some(child) => !matches!(child.try_wait(), Ok(None)),
        None => !pid_file::is_alive(pid),
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "Drop cannot await, and the pause is five milliseconds"
)]
fn pause() {
    std::thread::sleep(STEP);
}
