//! Composition root of Omniflow: reads settings, builds the adapters, starts processes, maps results to exit codes.
//! No business rule lives here.

pub mod chaos;
mod cli;
mod commands;
pub mod config;
mod crash;
#[cfg(test)]
mod deployment;
pub mod driver;
pub mod failure;
mod wiring;

use std::{ffi::OsString, process::ExitCode};

use clap::{CommandFactory as _, Parser as _};

/// Runs one command line to its exit code.
pub fn run(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let cli = match cli::Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) => {
            let code = if error.use_stderr() { 2 } else { 0 };
            let _printed = error.print();
            return ExitCode::from(code);
        }
    };
    let _failpoints = crash::arm();
    match commands::dispatch(cli) {
        Ok(code) => code,
        Err(failure) => failure.report(),
    }
}

/// The command line's definition, for completions, the manual page and tests.
pub fn command() -> clap::Command {
    cli::Cli::command()
}
