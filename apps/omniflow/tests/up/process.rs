//! `omniflow` as a person starts it in a folder.

use std::{
    fs::File,
    os::unix::process::CommandExt as _,
    path::Path,
    process::{Child, Command, ExitStatus, Stdio},
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};

/// Whom a process runs as.
pub(crate) const NOBODY: u32 = 65_534;

/// How to start it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Start<'a> {
    pub(crate) binary: &'a Path,
    /// Where it starts, and its home.
    pub(crate) folder: &'a Path,
    pub(crate) args: &'a [&'a str],
    pub(crate) settings: &'a [(&'a str, &'a str)],
    /// As another account; root only.
    pub(crate) account: Option<u32>,
}

/// A process that is killed when it is dropped, and what it said.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    said: tempfile::NamedTempFile,
    complained: tempfile::NamedTempFile,
}

impl<'a> Start<'a> {
    pub(crate) fn of(folder: &'a Path, args: &'a [&'a str]) -> Self {
        Self {
            binary: Path::new(env!("CARGO_BIN_EXE_omniflow")),
            folder,
            args,
            settings: &[],
            account: None,
        }
    }

    /// Starts it with nothing of our environment but the paths to programs.
    #[expect(
        clippy::disallowed_methods,
        reason = "a process under test finds programs as its parent does"
    )]
    pub(crate) fn now(self) -> Process {
        let (said, complained) = (file(), file());
        let writing = |file: &tempfile::NamedTempFile| File::options().append(true).open(file.path()).expect("its own");
        let mut command = Command::new(self.binary);
        command
            .args(self.args)
            .current_dir(self.folder)
            .env_clear()
            .envs(std::env::var_os("PATH").map(|path| ("PATH", path)))
            .env("HOME", self.folder)
            .env("APP_HTTP_ADDR", "127.0.0.1:0")
            .envs(self.settings.iter().copied())
            .stdin(Stdio::null())
            .stdout(writing(&said))
            .stderr(writing(&complained));
        if let Some(account) = self.account {
            command.uid(account).gid(account);
        }
        Process {
            child: command.spawn().expect("the binary starts"),
            said,
            complained,
        }
    }
}

fn file() -> tempfile::NamedTempFile {
    tempfile::NamedTempFile::new().expect("a file")
}

impl Process {
    pub(crate) fn output(&self) -> String {
        std::fs::read_to_string(self.said.path()).expect("its output")
    }

    pub(crate) fn errors(&self) -> String {
        std::fs::read_to_string(self.complained.path()).expect("its errors")
    }

    /// The rest of the first line that begins so, as soon as it was said.
    pub(crate) async fn says(&mut self, begin: &str, patience: Duration) -> String {
        let deadline = Instant::now() + patience;
        loop {
            if let Some(rest) = self.output().lines().find_map(|line| line.strip_prefix(begin)) {
                return rest.trim().to_owned();
            }
            let ended = self.child.try_wait().expect("its state");
            assert!(
                ended.is_none() && Instant::now() < deadline,
                "`{begin}` was not said ({ended:?}): {} {}",
                self.output(),
                self.errors()
            );
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).expect("it is ours to signal");
    }

    /// Waits for its end.
    pub(crate) async fn ends(&mut self, patience: Duration) -> ExitStatus {
        let deadline = Instant::now() + patience;
        loop {
            if let Some(status) = self.child.try_wait().expect("its state") {
                return status;
            }
            assert!(Instant::now() < deadline, "it does not end: {}", self.errors());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Ctrl-C, and a good end.
    pub(crate) async fn interrupt(mut self) {
        self.signal(Signal::INT);
        let status = self.ends(Duration::from_secs(30)).await;
        assert!(status.success(), "{status:?}: {}", self.errors());
    }

    /// SIGKILL, and gone.
    pub(crate) fn kill(mut self) {
        self.child.kill().expect("it is ours to kill");
        self.child.wait().expect("it ended");
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _gone = self.child.kill();
        let _status = self.child.wait();
    }
}
