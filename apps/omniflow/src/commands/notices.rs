//! `notices …`: what operators are told. What a notice says is not shown.

use std::{
    path::PathBuf,
    process::ExitCode,
    time::{Duration, Instant},
};

use domain::notices::Kind;
use serde_json::{Value, json};
use service::Service;
use sqlx::PgPool;
use store::notices::{self, Filter, NoticeRow, Topic};

use super::{events::plain, operator};
use crate::{cli::NoticesCommand, commands::say, config::Config, failure::Failure};

/// Between two looks at a trial.
const PAUSE: Duration = Duration::from_millis(200);

pub(super) async fn run(command: NoticesCommand, config: Config, data_dir: PathBuf) -> Result<ExitCode, Failure> {
    let service = operator::service(&config, &data_dir).await?;
    let pool = service.store().pool();
    match command {
        NoticesCommand::List {
            status,
            kind,
            limit,
            json,
        } => list(pool, status.as_deref(), kind.as_deref(), (limit, json)).await,
        NoticesCommand::Topics(args) => topics(pool, args.json).await,
        NoticesCommand::Retry { id, .. } => retry(&service, id).await,
        NoticesCommand::Test { wait } => test(&service, Duration::from_secs(wait.into())).await,
    }
}

async fn list(
    pool: &PgPool,
    status: Option<&str>,
    kind: Option<&str>,
    (limit, as_json): (u32, bool),
) -> Result<ExitCode, Failure> {
    let kind: Option<Kind> = kind.map(str::parse).transpose().map_err(|_| {
        let kinds: Vec<_> = Kind::ALL.iter().map(|kind| kind.as_str()).collect();
        Failure::Usage(format!("no notice is of that kind; kinds are {}", kinds.join(", ")))
    })?;
    let rows = notices::list(pool, Filter { status, kind }, i64::from(limit)).await?;
    for row in &rows {
        say(&if as_json { document(row).to_string() } else { line(row) });
    }
    if rows.is_empty() && !as_json {
        say("there is no such notice");
    }
    Ok(ExitCode::SUCCESS)
}

fn document(row: &NoticeRow) -> Value {
    json!({
        "id": row.notice_id, "kind": row.kind, "key": row.dedupe_key, "status": row.status, "code": row.error_code,
        "attempts": row.attempts, "createdAt": row.created_at, "nextAttemptAt": row.next_attempt_at, "sentAt": row.sent_at,
    })
}

fn line(row: &NoticeRow) -> String {
    format!(
        "{:>8} {} {:<19} {:<10} {:<32} {} tries  {}",
        row.notice_id,
        row.created_at.format("%Y-%m-%d %H:%M:%S"),
        plain(&row.kind),
        row.status,
        row.error_code.as_deref().map(plain).unwrap_or_default(),
        row.attempts,
        plain(&row.dedupe_key),
    )
}

async fn topics(pool: &PgPool, as_json: bool) -> Result<ExitCode, Failure> {
    let Some(group) = notices::group(pool).await? else {
        return Err(Failure::No(
            "no group was written to yet: set APP_TELEGRAM_TOKEN and APP_OPERATOR_CHAT_ID, and start a worker"
                .to_owned(),
        ));
    };
    let topics = notices::topics(pool, group.chat_id).await?;
    if as_json {
        let rows: Vec<_> = topics
            .iter()
            .map(|topic| json!({"kind": topic.kind, "topic": topic.topic_id, "code": topic.last_error_code}))
            .collect();
        let group =
            json!({"chat": group.chat_id, "pausedSeconds": group.paused_seconds, "pauseCode": group.pause_code});
        say(&json!({"group": group, "topics": rows}).to_string());
        return Ok(ExitCode::SUCCESS);
    }
    say(&match &group.pause_code {
        Some(code) if group.paused_seconds > 0 => {
            format!(
                "group {}, left alone for {} s: {}",
                group.chat_id,
                group.paused_seconds,
                plain(code)
            )
        }
        _ => format!("group {}", group.chat_id),
    });
    topics.iter().for_each(|topic| say(&topic_line(topic)));
    Ok(ExitCode::SUCCESS)
}

fn topic_line(topic: &Topic) -> String {
    let place = match (topic.topic_id, &topic.last_error_code) {
        (Some(id), _) => format!("topic {id}"),
        (None, Some(code)) => format!("none: {}", plain(code)),
        (None, None) => "not made yet".to_owned(),
    };
    format!("{:<19} {place}", topic.kind.as_str())
}

async fn retry(service: &Service, id: Option<i64>) -> Result<ExitCode, Failure> {
    let caller = operator::caller("cli");
    match id {
        Some(id) => {
            service.retry_notice(&caller, id).await?;
            say("the notice is sent again");
        }
        None => {
            let count = service.retry_failed_notices(&caller).await?;
            say(&format!("{count} notices are sent again"));
        }
    }
    Ok(ExitCode::SUCCESS)
}

async fn test(service: &Service, patience: Duration) -> Result<ExitCode, Failure> {
    let key = service.queue_notice_test().await?;
    let started = Instant::now();
    loop {
        let row = notices::find(service.store().pool(), Kind::NoticeTest, &key).await?;
        let row = row.ok_or_else(|| Failure::unavailable("the trial notice is gone"))?;
        let code = row.error_code.as_deref().unwrap_or("-");
        match row.status.as_str() {
            "sent" => {
                say(&format!(
                    "notice {} was sent after {:.1} s",
                    row.notice_id,
                    started.elapsed().as_secs_f64()
                ));
                return Ok(ExitCode::SUCCESS);
            }
            "failed" | "suppressed" => {
                return Err(Failure::No(format!(
                    "notice {} is {}: {}",
                    row.notice_id,
                    row.status,
                    plain(code)
                )));
            }
            _ if started.elapsed() >= patience => {
                return Err(Failure::No(format!(
                    "notice {} was not sent within {} s (last error: {}): see that a worker runs, and `omniflow doctor`",
                    row.notice_id,
                    patience.as_secs(),
                    plain(code)
                )));
            }
            _ => tokio::time::sleep(PAUSE).await,
        }
    }
}
