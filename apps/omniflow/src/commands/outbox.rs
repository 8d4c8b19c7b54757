//! `outbox status|list|retry`: what is not handed over yet. Payloads are not shown.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use serde_json::json;
use sqlx::PgPool;
use store::outbox;

use crate::{
    cli::OutboxCommand,
    commands::{events::plain, operator, say},
    config::Config,
    failure::Failure,
    wiring::database::Database,
};

/// Blocked streams that `status` names.
const NAMED: i64 = 50;

pub(super) async fn run(command: OutboxCommand, config: Config, data_dir: PathBuf) -> Result<ExitCode, Failure> {
    match command {
        OutboxCommand::Status(args) => status(&pool(&config, &data_dir).await?, args.json).await,
        OutboxCommand::List { limit, json } => list(&pool(&config, &data_dir).await?, limit, json).await,
        OutboxCommand::Retry { stream } => retry(&config, &data_dir, &stream).await,
    }
}

async fn pool(config: &Config, data_dir: &Path) -> Result<PgPool, Failure> {
    let database = Database::find(config, data_dir).await?;
    let (pool, _mode) = database.checked_pool("outbox", 2).await?;
    Ok(pool)
}

async fn status(pool: &PgPool, as_json: bool) -> Result<ExitCode, Failure> {
    let backlog = outbox::backlog(pool).await?;
    let blocked = outbox::list_blocked(pool, NAMED).await?;
    if as_json {
        let streams: Vec<_> = blocked
            .iter()
            .map(|one| {
                json!({
                    "stream": one.stream,
                    "row": one.row_id,
                    "topic": one.topic,
                    "code": one.code,
                    "detail": one.detail,
                    "attempts": one.attempts,
                    "waiting": one.parked,
                    "blockedAt": one.blocked_at,
                    "nextTryAt": one.next_try_at,
                })
            })
            .collect();
        say(&json!({
            "pendingCount": backlog.pending,
            "oldestAgeSeconds": backlog.oldest_age_seconds,
            "parkedCount": backlog.parked,
            "blockedStreams": backlog.blocked_streams,
            "blocked": streams,
        })
        .to_string());
        return Ok(ExitCode::SUCCESS);
    }
    say(&format!(
        "{} rows wait, the oldest for {:.1} s; {} streams are blocked ({} rows)",
        backlog.pending, backlog.oldest_age_seconds, backlog.blocked_streams, backlog.parked
    ));
    for one in &blocked {
        say(&format!(
            "{}  row {} {}: {} ({}), {} tries, next at {}, {} rows wait",
            plain(&one.stream),
            one.row_id,
            plain(&one.topic),
            plain(&one.code),
            plain(one.detail.as_deref().unwrap_or("-")),
            one.attempts,
            one.next_try_at.format("%Y-%m-%d %H:%M:%S"),
            one.parked
        ));
    }
    Ok(ExitCode::SUCCESS)
}

async fn list(pool: &PgPool, limit: u32, as_json: bool) -> Result<ExitCode, Failure> {
    for row in outbox::list(pool, 0, i64::from(limit)).await? {
        if as_json {
            say(&json!({
                "id": row.id,
                "topic": row.topic,
                "stream": row.stream,
                "createdAt": row.created_at,
                "blocked": row.parked,
                "failures": row.attempts,
                "code": row.last_error,
            })
            .to_string());
        } else {
            say(&format!(
                "{:>10} {} {} {}{}",
                row.id,
                row.created_at.format("%Y-%m-%d %H:%M:%S"),
                plain(&row.topic),
                plain(&row.stream),
                if row.parked { "  blocked" } else { "" }
            ));
        }
    }
    Ok(ExitCode::SUCCESS)
}

async fn retry(config: &Config, data_dir: &Path, stream: &str) -> Result<ExitCode, Failure> {
    let service = operator::service(config, data_dir).await?;
    service.retry_outbox(&operator::caller("cli"), stream).await?;
    say("the stream is tried again at once");
    Ok(ExitCode::SUCCESS)
}
