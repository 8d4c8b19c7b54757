//! `omniflow sandbox`: the simulators alone, in the foreground.

use std::{path::PathBuf, process::ExitCode};

use ::sandbox::{Addresses, SandboxError, SandboxOptions};
use tokio::signal::unix::{SignalKind, signal};

use super::say;
use crate::failure::Failure;

/// Serves the simulators of a data directory until SIGINT or SIGTERM.
pub(crate) async fn run(data_dir: PathBuf) -> Result<ExitCode, Failure> {
    // Watched before anything is started, so that no signal is missed.
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    let running = ::sandbox::start(SandboxOptions::new(&data_dir)).await?;
    let Addresses {
        panel,
        cryptopay,
        goods,
        telegram,
        control,
    } = running.addresses();
    for (name, url) in [
        ("panel", &panel.url),
        ("cryptopay", &cryptopay.url),
        ("goods", &goods.url),
        ("telegram", &telegram.url),
        ("control", &control.url),
    ] {
        say(&format!("{name:<10}{url}"));
    }
    say(&format!("tokens    {}", Addresses::path(&data_dir).display()));
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
    running.stop().await;
    Ok(ExitCode::SUCCESS)
}

impl From<SandboxError> for Failure {
    fn from(error: SandboxError) -> Self {
        Self::unavailable(error)
    }
}
