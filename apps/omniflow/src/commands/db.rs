//! `db up|down|status|migrate`: the private server of the data directory, and migrations of any database.

use std::{path::PathBuf, process::ExitCode};

use cluster::{
    Options,
    standing::{self, Status},
};
use serde_json::json;
use store::{Mode, migrate};

use crate::{
    cli::{DbCommand, JsonArgs, ModeArg},
    commands::say,
    config::Config,
    failure::Failure,
    wiring::database::{DATABASE, Database, server_settings},
};

pub(super) async fn run(command: DbCommand, config: Config, data_dir: PathBuf) -> Result<ExitCode, Failure> {
    match command {
        DbCommand::Up => up(&config, data_dir).await,
        DbCommand::Down => down(data_dir).await,
        DbCommand::Migrate { mode } => migrate_to(&config, data_dir, mode).await,
        DbCommand::Status(args) => status(args, &config, data_dir).await,
    }
}

/// The server goes on when this command ends.
async fn up(config: &Config, data_dir: PathBuf) -> Result<ExitCode, Failure> {
    refuse_foreign(config, "db up")?;
    let options = Options {
        settings: server_settings(config),
        ..Options::new(data_dir)
    };
    let server = standing::up(&options).await.map_err(Failure::unavailable)?;
    server.ensure_database(DATABASE).await.map_err(Failure::unavailable)?;
    for notice in server.notices() {
        say(notice);
    }
    say(&format!(
        "running: process {}, files in {}",
        server.pid(),
        server.directory().display()
    ));
    say("stop it with `omniflow db down`");
    Ok(ExitCode::SUCCESS)
}

async fn down(data_dir: PathBuf) -> Result<ExitCode, Failure> {
    let stopped = standing::down(&data_dir).await.map_err(Failure::unavailable)?;
    say(if stopped {
        "stopped"
    } else {
        "no private server was running"
    });
    Ok(ExitCode::SUCCESS)
}

async fn migrate_to(config: &Config, data_dir: PathBuf, mode: ModeArg) -> Result<ExitCode, Failure> {
    let database = Database::find(config, &data_dir).await?;
    let mode = match mode {
        ModeArg::Sandbox => Mode::Sandbox,
        ModeArg::Live => Mode::Live,
    };
    let done = migrate(database.url.expose(), mode).await?;
    for version in &done.applied {
        say(&format!("applied {version}"));
    }
    for version in &done.river_applied {
        say(&format!("applied River's {version}"));
    }
    say(&format!(
        "every migration is applied; this is a {} installation",
        done.mode
    ));
    Ok(ExitCode::SUCCESS)
}

/// Exit code 0 when a database answers and its schema is this version's, 1 when not.
async fn status(args: JsonArgs, config: &Config, data_dir: PathBuf) -> Result<ExitCode, Failure> {
    let server = match &config.database.url {
        Some(_) => "the one of APP_DATABASE_URL".to_owned(),
        None => describe(&standing::status(&data_dir).await.map_err(Failure::unavailable)?),
    };
    let schema = match Database::find(config, &data_dir).await {
        // A new database has not even the role that we would use.
        Ok(database) => database
            .checked_pool("db-status", 1)
            .await
            .map(|(_, mode)| mode)
            .map_err(|failure| Failure::unavailable(format!("{failure} (a new database needs `omniflow db migrate`)"))),
        Err(failure) => Err(failure),
    };
    let (usable, said) = match &schema {
        Ok(mode) => (true, format!("complete, a {mode} installation")),
        Err(failure) => (false, failure.to_string()),
    };
    if args.json {
        say(&json!({"usable": usable, "server": server, "schema": said}).to_string());
    } else {
        say(&format!("server: {server}"));
        say(&format!("schema: {said}"));
    }
    Ok(if usable { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn describe(status: &Status) -> String {
    match status {
        Status::Running {
            pid,
            directory,
            standing,
        } => {
            let until = if *standing {
                "until `omniflow db down`"
            } else {
                "while its process runs"
            };
            format!("runs {until} (process {pid}, files in {})", directory.display())
        }
        Status::Stopped { directory } => format!("stopped (files in {})", directory.display()),
        _ => "no private server was ever made here".to_owned(),
    }
}

/// These commands are about the private server only.
fn refuse_foreign(config: &Config, command: &str) -> Result<(), Failure> {
    if config.database.url.is_none() {
        return Ok(());
    }
    Err(Failure::Usage(format!(
        "APP_DATABASE_URL names a server, so `{command}` has nothing to start; unset it to use a private one"
    )))
}
