//! One process of the installation under test.

use std::{
    fs::File,
    path::Path,
    process::{Child, Command, ExitStatus, Output, Stdio},
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};

/// A process that is killed when it is dropped.
#[derive(Debug)]
pub(crate) struct Process(Child);

impl Process {
    /// Starts `omniflow <command>` with nothing of our environment but the paths to programs. Its log goes beside the data.
    pub(crate) fn start(command: &str, dir: &Path, settings: &[(&str, String)]) -> Self {
        let log = File::options()
            .create(true)
            .append(true)
            .open(dir.join(format!("{command}.log")))
            .expect("a log file");
        let child = omniflow(&[command], dir, settings)
            .stdout(log.try_clone().expect("a second handle"))
            .stderr(log)
            .spawn()
            .expect("the binary starts");
        Self(child)
    }

    /// Runs `omniflow <args>` to its end.
    pub(crate) fn run(args: &[&str], dir: &Path, settings: &[(&str, String)]) -> Output {
        omniflow(args, dir, settings).output().expect("the binary starts")
    }

    /// Asks it politely to end.
    pub(crate) fn terminate(&self) {
        let pid = Pid::from_child(&self.0);
        kill_process(pid, Signal::TERM).expect("it is ours to signal");
    }

    /// SIGKILL, and gone.
    pub(crate) fn kill(mut self) {
        self.stop_now();
    }

    /// SIGKILL where it still runs; what it listened on is free afterwards.
    pub(crate) fn stop_now(&mut self) {
        self.0.kill().expect("it is ours to kill");
        self.0.wait().expect("it ended");
    }

    /// Whether it still runs.
    pub(crate) fn runs(&mut self) -> bool {
        self.0.try_wait().expect("its state can be read").is_none()
    }

    /// Waits for it to end by itself.
    pub(crate) async fn wait(&mut self, patience: Duration) -> Option<ExitStatus> {
        let deadline = Instant::now() + patience;
        loop {
            match self.0.try_wait().expect("its state can be read") {
                Some(status) => return Some(status),
                None if Instant::now() > deadline => return None,
                None => tokio::time::sleep(Duration::from_millis(20)).await,
            }
        }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a process under test finds programs as its parent does"
)]
fn omniflow(args: &[&str], dir: &Path, settings: &[(&str, String)]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_omniflow"));
    command
        .arg("--data-dir")
        .arg(dir)
        .args(args)
        .env_clear()
        .envs(
            ["PATH", "HOME"]
                .into_iter()
                .filter_map(|name| Some((name, std::env::var_os(name)?))),
        )
        .envs(settings.iter().map(|(name, value)| (*name, value.as_str())))
        .stdin(Stdio::null());
    command
}

impl Drop for Process {
    fn drop(&mut self) {
        let _gone = self.0.kill();
        let _status = self.0.wait();
    }
}
