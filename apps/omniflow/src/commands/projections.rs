//! `projections list|replay|verify`: read models, rebuilt and compared while the system runs.

use std::{path::PathBuf, process::ExitCode};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use ports::clock::{Clock as _, SystemClock};
use projectors::{
    NAMES, Name, ProjectionError,
    replay::{Progress, rebuild},
    verify::{Verified, verify},
};
use serde_json::{Value, json};
use sqlx::PgPool;
use store::{
    audit::{self, Category, Outcome, Target},
    checkpoint,
    high_water::last_position,
};

use crate::{
    cli::{ProjectionArgs, ProjectionsCommand},
    commands::{operator, say},
    config::Config,
    failure::Failure,
    wiring::database::Database,
};

/// One for the lock and the work, one for the snapshot, one for questions.
const CONNECTIONS: u32 = 3;

pub(super) async fn run(command: ProjectionsCommand, config: Config, data_dir: PathBuf) -> Result<ExitCode, Failure> {
    let database = Database::find(&config, &data_dir).await?;
    let (pool, _mode) = database.checked_pool("projections", CONNECTIONS).await?;
    match command {
        ProjectionsCommand::List(args) => list(&pool, args.json).await,
        ProjectionsCommand::Replay(args) => replay_each(&pool, &args).await,
        ProjectionsCommand::Verify(args) => verify_each(&pool, &args).await,
    }
}

/// Name, position and lag of each.
async fn list(pool: &PgPool, as_json: bool) -> Result<ExitCode, Failure> {
    let head = last_position(&mut *pool.acquire().await?).await?;
    let checkpoints = checkpoint::list(pool).await?;
    let mut listed = Vec::new();
    for name in NAMES {
        let found = checkpoints.iter().find(|one| one.name == name.as_str());
        let position = found.map_or(0, |one| one.position);
        let rebuild = checkpoints
            .iter()
            .find(|one| one.name.starts_with(&format!("rebuild:{name}:")))
            .map(|one| one.position);
        listed.push(json!({
            "name": name.as_str(),
            "position": position,
            "head": head,
            "lag": head.saturating_sub(position).max(0),
            "updatedAt": found.map(|one| one.updated_at),
            "stoppedAt": found.and_then(|one| one.failed_position),
            "code": found.and_then(|one| one.failed_code.clone()),
            "stoppedSince": found.and_then(|one| one.failed_at),
            "unfinishedRebuildAt": rebuild,
        }));
    }
    if as_json {
        say(&json!({ "projections": listed }).to_string());
    } else {
        listed.iter().for_each(|one| say(&line(one)));
    }
    Ok(ExitCode::SUCCESS)
}

fn line(one: &Value) -> String {
    let state = match (one["stoppedAt"].as_i64(), one["unfinishedRebuildAt"].as_i64()) {
        (Some(position), _) => format!(
            "STOPPED by event {position} ({})",
            one["code"].as_str().unwrap_or_default()
        ),
        (None, Some(position)) => format!("running; an unfinished rebuild is at {position}"),
        (None, None) => "running".to_owned(),
    };
    format!(
        "{:<16} position {:>10}  lag {:>8}  {state}",
        one["name"].as_str().unwrap_or_default(),
        one["position"],
        one["lag"]
    )
}

async fn replay_each(pool: &PgPool, args: &ProjectionArgs) -> Result<ExitCode, Failure> {
    for name in chosen(args)? {
        let bar = bar(name, args.json);
        let rebuilt = rebuild(pool, name, &|progress| show(&bar, progress)).await;
        bar.finish_and_clear();
        let position = rebuilt.as_ref().ok().map(|rebuilt| rebuilt.position);
        keep_record(pool, name, position).await?;
        let rebuilt = rebuilt?;
        if args.json {
            say(&json!({
                "name": rebuilt.projection,
                "position": rebuilt.position,
                "resumedFrom": rebuilt.resumed_from,
                "events": rebuilt.events,
            })
            .to_string());
        } else {
            say(&format!(
                "{name}: rebuilt up to position {} from {} events",
                rebuilt.position, rebuilt.events
            ));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// A rebuild swaps a table under its readers, so it is kept who had it done and how it went; `position` is where it ended.
async fn keep_record(pool: &PgPool, name: Name, position: Option<i64>) -> Result<(), Failure> {
    let caller = operator::caller("cli");
    let target = Target {
        kind: "projection",
        id: name.as_str(),
    };
    let facts = json!({ "position": position });
    let at = SystemClock.now();
    let mut record = caller.audit("admin.projection.replayed", Category::System, target, facts, at);
    if position.is_none() {
        record.outcome = Outcome::Failure;
    }
    Ok(audit::record_in(&mut *pool.acquire().await?, record).await?)
}

async fn verify_each(pool: &PgPool, args: &ProjectionArgs) -> Result<ExitCode, Failure> {
    let mut differ = false;
    for name in chosen(args)? {
        let bar = bar(name, args.json);
        let verified = verify(pool, name, &|progress| show(&bar, progress)).await;
        bar.finish_and_clear();
        let verified = verified?;
        differ |= verified.difference_count > 0;
        tell(&verified, args.json);
    }
    Ok(if differ { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

fn tell(verified: &Verified, as_json: bool) {
    if as_json {
        return say(&json!({
            "name": verified.projection,
            "position": verified.position,
            "rows": verified.rows,
            "differenceCount": verified.difference_count,
            "differences": verified.differences,
        })
        .to_string());
    }
    for difference in &verified.differences {
        say(&difference.to_string());
    }
    let (name, rows, position) = (verified.projection, verified.rows, verified.position);
    match verified.difference_count {
        0 => say(&format!("{name}: {rows} rows equal the log up to position {position}")),
        count => say(&format!(
            "{name}: {count} differences in {rows} rows up to position {position}"
        )),
    }
}

fn chosen(args: &ProjectionArgs) -> Result<Vec<Name>, Failure> {
    match &args.name {
        Some(name) => Ok(vec![name.parse()?]),
        None => Ok(NAMES.to_vec()),
    }
}

/// A bar on a terminal's standard error; nothing anywhere else.
fn bar(name: Name, as_json: bool) -> ProgressBar {
    if as_json {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{prefix:<16} {wide_bar} {pos}/{len} {per_sec} {eta}")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr())
        .with_style(style)
        .with_prefix(name.as_str())
}

fn show(bar: &ProgressBar, progress: Progress) {
    bar.set_length(u64::try_from(progress.head).unwrap_or(0));
    bar.set_position(u64::try_from(progress.position).unwrap_or(0));
}

impl From<ProjectionError> for Failure {
    fn from(error: ProjectionError) -> Self {
        match error {
            ProjectionError::UnknownName(_) => Self::Usage(error.to_string()),
            ProjectionError::Stopped(_) => Self::No(error.to_string()),
            other => Self::unavailable(with_cause(&other)),
        }
    }
}

/// The cause as well: "interrupted" alone says too little.
fn with_cause(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(cause) => format!("{error} ({cause})"),
        None => error.to_string(),
    }
}
