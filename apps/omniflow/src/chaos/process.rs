//! One process of the installation.

use std::{
    fs::File,
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
};

use rustix::process::{Pid, Signal, kill_process};

use crate::failure::Failure;

/// How to start processes of one installation.
#[derive(Debug)]
pub(super) struct Starter {
    binary: PathBuf,
    data_dir: PathBuf,
    inherited: Vec<(&'static str, std::ffi::OsString)>,
}

impl Starter {
    #[expect(
        clippy::disallowed_methods,
        reason = "a process of the storm finds programs as its parent does; it is no setting of ours"
    )]
    pub(super) fn new(binary: &Path, data_dir: &Path) -> Self {
        let inherited = ["PATH", "HOME"]
            .into_iter()
            .filter_map(|name| Some((name, std::env::var_os(name)?)))
            .collect();
        Self {
            binary: binary.to_owned(),
            data_dir: data_dir.to_owned(),
            inherited,
        }
    }

    /// `omniflow <args>` with nothing of our environment but the paths to programs.
    pub(super) fn command(&self, args: &[&str], settings: &[(&'static str, String)]) -> Command {
        let mut command = Command::new(&self.binary);
        command
            .arg("--data-dir")
            .arg(&self.data_dir)
            .args(args)
            .env_clear()
            .envs(self.inherited.iter().map(|(name, value)| (*name, value)))
            .envs(settings.iter().map(|(name, value)| (*name, value.as_str())))
            .stdin(Stdio::null());
        command
    }

    /// Starts `omniflow <command>`. What it writes goes to `<log>.log` beside the data.
    pub(super) fn start(
        &self,
        command: &str,
        log: &str,
        settings: &[(&'static str, String)],
    ) -> Result<Process, Failure> {
        let path = self.data_dir.join(format!("{log}.log"));
        let log = File::options().create(true).append(true).open(path)?;
        let child = self
            .command(&[command], settings)
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()?;
        Ok(Process(child))
    }
}

/// A process that is killed when it is dropped.
#[derive(Debug)]
pub(super) struct Process(Child);

impl Process {
    /// Sends a signal; one that is gone already needs none.
    pub(super) fn signal(&self, signal: Signal) {
        let _gone = kill_process(Pid::from_child(&self.0), signal);
    }

    /// SIGKILL; what it listened on is free afterwards.
    pub(super) fn kill(&mut self) -> Result<(), Failure> {
        self.0.kill()?;
        self.0.wait()?;
        Ok(())
    }

    /// How it ended; `None` while it runs.
    pub(super) fn ended(&mut self) -> Result<Option<ExitStatus>, Failure> {
        Ok(self.0.try_wait()?)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _gone = self.0.kill();
        let _status = self.0.wait();
    }
}
