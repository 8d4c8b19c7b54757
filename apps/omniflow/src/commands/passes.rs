//! `passes …`: the ledger of periodic passes, and a run on demand.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use serde_json::{Value, json};
use service::Service;
use store::pass_runs::PassRow;
use worker::passes::{self, Asked, Entry, PassParts, PassSettings, Ran};

use super::{events::plain, operator};
use crate::{
    cli::PassesCommand,
    commands::{say, start_logs},
    config::Config,
    failure::Failure,
    wiring::{
        adapters::Adapters,
        core::{assemble, connect},
        database::Database,
        keys::keys_of,
        processes::{asked_to_stop, process_id},
    },
};

/// Connections of a run on demand: a pass works on its rows one after the other.
const CONNECTIONS: u32 = 4;

pub(super) async fn run(command: PassesCommand, config: Config, data_dir: PathBuf) -> Result<ExitCode, Failure> {
    match command {
        PassesCommand::List(args) => {
            let service = operator::service(&config, &data_dir).await?;
            list(&service, &config.passes, args.json).await
        }
        PassesCommand::Run { name, json } => {
            let entry = passes::find(&name, &config.passes)
                .ok_or_else(|| Failure::Usage(format!("`{}` is no pass; see `omniflow passes list`", plain(&name))))?;
            start_logs(&config);
            let parts = parts(config, &data_dir).await?;
            run_now(&parts, &entry, json).await
        }
    }
}

/// What a worker would run the pass with.
async fn parts(mut config: Config, data_dir: &Path) -> Result<PassParts, Failure> {
    let database = Database::find(&config, data_dir).await?;
    let options = database.pool_options("passes", CONNECTIONS);
    let connected = connect(&options).await?;
    let adapters = Adapters::build(connected.1, &config, data_dir)?;
    let keys = keys_of(connected.1, &mut config, data_dir)?;
    let core = assemble(connected, &options, &adapters, keys.data_key.as_ref())?;
    let (ceiling, settings) = (config.spending.ceiling(), config.passes);
    PassParts::new(&core.service, ceiling, settings, process_id("passes")).map_err(Failure::unavailable)
}

async fn run_now(parts: &PassParts, entry: &Entry, as_json: bool) -> Result<ExitCode, Failure> {
    let ran = passes::run(parts, entry, &Asked::ByPerson, asked_to_stop())
        .await
        .map_err(|code| Failure::unavailable(format!("{} was not begun ({code})", entry.name)))?;
    match ran {
        Ran::Ended(Ok(report)) => {
            if as_json {
                say(&json!({"task": entry.name, "outcome": "succeeded", "detail": report.figures}).to_string());
            } else {
                say(&format!("{}: succeeded {}", entry.name, report.figures));
            }
            Ok(ExitCode::SUCCESS)
        }
        Ran::Ended(Err(code)) => no(entry, "failed", &code, as_json),
        Ran::Interrupted => no(entry, "interrupted", "interrupted", as_json),
        Ran::Busy { since, runner } => {
            let on = format!(
                "another run is on since {} ({})",
                since.format("%Y-%m-%d %H:%M:%S"),
                plain(&runner)
            );
            no(entry, "refused", &on, as_json)
        }
        Ran::NotDue => no(entry, "refused", "not_due", as_json),
    }
}

fn no(entry: &Entry, outcome: &str, why: &str, as_json: bool) -> Result<ExitCode, Failure> {
    if as_json {
        say(&json!({"task": entry.name, "outcome": outcome, "detail": {"code": why}}).to_string());
        return Ok(ExitCode::from(1));
    }
    Err(Failure::No(format!("{}: {outcome}: {why}", entry.name)))
}

async fn list(service: &Service, settings: &PassSettings, as_json: bool) -> Result<ExitCode, Failure> {
    let runs = service.pass_runs().await?;
    let mut well = true;
    for entry in passes::table(settings) {
        let run = runs.iter().find(|run| run.task == entry.name);
        well &= !run.is_some_and(|run| run.state == "failed" || run.state == "lost");
        say(&if as_json {
            document(&entry, run).to_string()
        } else {
            line(&entry, run)
        });
    }
    Ok(if well { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn document(entry: &Entry, run: Option<&PassRow>) -> Value {
    json!({
        "task": entry.name,
        "intervalSeconds": entry.interval.as_secs(),
        "limitSeconds": entry.timeout.as_secs(),
        "state": run.map_or("never", |run| run.state.as_str()),
        "startedAt": run.map(|run| run.started_at),
        "finishedAt": run.and_then(|run| run.finished_at),
        "durationMs": run.and_then(duration_ms),
        "lastSuccessAt": run.and_then(|run| run.last_success_at),
        "runner": run.and_then(|run| run.runner.as_deref()),
        "detail": run.and_then(|run| run.detail.as_ref()),
    })
}

fn line(entry: &Entry, run: Option<&PassRow>) -> String {
    let every = format!("every {} s", entry.interval.as_secs());
    let Some(run) = run else {
        return format!("{:<24} {every:<14} never ran", entry.name);
    };
    let detail = run.detail.as_ref().map(ToString::to_string).unwrap_or_default();
    format!(
        "{:<24} {every:<14} {:<9} {} {:>6} ms {}",
        entry.name,
        run.state,
        run.started_at.format("%Y-%m-%d %H:%M:%S"),
        duration_ms(run).unwrap_or_default(),
        plain(&detail),
    )
}

fn duration_ms(run: &PassRow) -> Option<i64> {
    Some((run.finished_at? - run.started_at).num_milliseconds())
}
