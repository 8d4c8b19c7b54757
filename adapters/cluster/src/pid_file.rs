//! The server's own pid file: a claim, never a proof.

use std::fs;
use std::path::{Path, PathBuf};

#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct PidFile {
    pub(crate) pid: i32,
    pub(crate) port: Option<u16>,
    pub(crate) socket_dir: Option<PathBuf>,
}

impl PidFile {
    pub(crate) fn path(data: &Path) -> PathBuf {
        data.join("postmaster.pid")
    }

    pub(crate) fn read(data: &Path) -> Option<Self> {
        parse(&fs::read_to_string(Self::path(data)).ok()?)
    }

    /// Names us as the holder: PostgreSQL takes a file that names its own parent for a left-over, but still looks whether
    /// the shared memory noted in it is in use. Removing the file would lose that second guard.
    pub(crate) fn disown(data: &Path) {
        if let Ok(text) = fs::read_to_string(Self::path(data)) {
            let rest = text.split_once('\n').map_or("", |(_, rest)| rest);
            let _ = fs::write(Self::path(data), format!("{}\n{rest}", std::process::id()));
        }
    }
}

fn parse(text: &str) -> Option<PidFile> {
    let mut lines = text.lines();
    // A stand-alone backend notes its pid as a negative number.
    let pid = lines
        .next()?
        .trim()
        .parse::<i32>()
        .ok()?
        .checked_abs()
        .filter(|pid| *pid > 0)?;
    let port = lines.nth(2).and_then(|line| line.trim().parse().ok());
    let socket_dir = lines
        .next()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .map(PathBuf::from);
    Some(PidFile { pid, port, socket_dir })
}

/// Whether a process with this number exists (whoever owns it).
pub(crate) fn is_alive(pid: i32) -> bool {
    let Some(process) = rustix::process::Pid::from_raw(pid) else {
        return false;
    };
    match rustix::process::test_kill_process(process) {
        Ok(()) => !is_zombie(pid),
        Err(error) => error != rustix::io::Errno::SRCH,
    }
}

/// A process that ended but was not collected by its parent still has a number.
fn is_zombie(pid: i32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/stat"))
        .ok()
        .and_then(|stat| {
            stat.rsplit_once(')')
                .map(|(_, rest)| rest.trim_start().starts_with('Z'))
        })
        .unwrap_or(false)
}

/// Whether the process works in this directory, as every process of a server does; `None` where the system does not tell.
pub(crate) fn works_in(pid: i32, data: &Path) -> Option<bool> {
    let directory = fs::read_link(format!("/proc/{pid}/cwd")).ok()?;
    Some(directory == fs::canonicalize(data).unwrap_or_else(|_| data.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_of_the_file_are_understood_and_rubbish_is_not() {
        let text = "4711\n/d/data\n1700000000\n5432\n/d/socket\n\n  12345    98\nready   \n";
        let file = parse(text).unwrap();
        assert_eq!(
            (file.pid, file.port, file.socket_dir),
            (4711, Some(5432), Some(PathBuf::from("/d/socket")))
        );
        assert_eq!(parse("4711\n").map(|file| file.socket_dir), Some(None));
        assert_eq!(parse(""), None);
        assert_eq!(parse("0\n"), None);
        assert_eq!(parse("x\n"), None);
    }

    #[test]
    fn we_are_alive_and_the_highest_number_is_not() {
        assert!(is_alive(i32::try_from(std::process::id()).unwrap()));
        assert!(!is_alive(i32::MAX));
    }
}
