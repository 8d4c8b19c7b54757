//! `jobs …`: rows of the queue, as an operator sees and changes them. Arguments stay behind the records they point at.

use std::{path::PathBuf, process::ExitCode};

use queue::{JobState, JobView, ListingFilter, Subject};
use serde_json::{Value, json};
use service::{Caller, Cursor, DeadLetterRow, DeadLetterSearch};

use super::{events::plain, operator};
use crate::{
    cli::{JobChange, JobsCommand},
    commands::say,
    config::Config,
    failure::Failure,
};

/// Longest last error that is shown, in characters.
const LONGEST_ERROR: usize = 2_000;

pub(super) async fn run(command: JobsCommand, config: Config, data_dir: PathBuf) -> Result<ExitCode, Failure> {
    let service = operator::service(&config, &data_dir).await?;
    match command {
        JobsCommand::List {
            state,
            limit,
            cursor,
            json,
        } => {
            let filter = ListingFilter {
                states: states(&state)?,
                limit,
                before: cursor
                    .as_deref()
                    .map(Cursor::job)
                    .transpose()
                    .map_err(service::Error::from)?,
            };
            let listing = service.list_jobs(&filter).await?;
            if json {
                let items: Vec<_> = listing.jobs.iter().map(document).collect();
                let next = listing.next.map(|id| Cursor::Job(id).to_string());
                say(&json!({"state": state, "items": items, "nextCursor": next}).to_string());
            } else if listing.jobs.is_empty() {
                say(&format!("no job is {state}"));
            } else {
                listing.jobs.iter().for_each(|job| say(&line(job)));
            }
        }
        JobsCommand::DeadLetters {
            kind,
            open,
            limit,
            cursor,
            json,
        } => {
            let search = DeadLetterSearch {
                kind,
                state: None,
                open_only: open,
                cursor,
                limit: i64::from(limit),
            };
            let page = service.list_dead_letters(&search).await?;
            if json {
                let items: Vec<_> = page.items.iter().map(dead_document).collect();
                say(&json!({"items": items, "nextCursor": page.next}).to_string());
            } else {
                page.items.iter().for_each(|row| say(&dead_line(row)));
            }
        }
        JobsCommand::Show { id, json } => {
            let job = service.job(id).await?;
            say(&if json { document(&job).to_string() } else { line(&job) });
        }
        JobsCommand::Retry(change) => say(&line(&service.retry_job(&caller(&change), change.id).await?)),
        JobsCommand::Cancel(change) => say(&line(&service.cancel_job(&caller(&change), change.id).await?)),
    }
    Ok(ExitCode::SUCCESS)
}

fn caller(change: &JobChange) -> Caller {
    operator::caller(change.operator.trim()).with_reason(change.reason.clone())
}

fn states(text: &str) -> Result<Vec<JobState>, Failure> {
    if text == "dead_letter" {
        return Ok(vec![JobState::Discarded, JobState::Cancelled]);
    }
    let state = text
        .parse()
        .map_err(|_| Failure::Usage(format!("`{}` is no state of a job", plain(text))))?;
    Ok(vec![state])
}

fn subject(job: &JobView) -> String {
    match &job.subject {
        Subject::Operation(id) => format!("operation {id}"),
        Subject::Order(id) => format!("order {id}"),
        Subject::Pass(name) => format!("pass {}", plain(name)),
        Subject::Unknown => "-".to_owned(),
    }
}

fn document(job: &JobView) -> Value {
    json!({
        "id": job.id, "kind": job.kind, "queue": job.queue, "state": job.state.to_string(), "argsSummary": job.subject.summary(),
        "attempt": job.attempt, "maxAttempts": job.max_attempts, "createdAt": job.created_at, "scheduledAt": job.scheduled_at,
        "attemptedAt": job.attempted_at, "finalizedAt": job.finalized_at, "errorCount": job.error_count,
        "lastError": secrets::redact::line(&job.last_error, LONGEST_ERROR),
    })
}

fn line(job: &JobView) -> String {
    let error = secrets::redact::line(&job.last_error, LONGEST_ERROR);
    format!(
        "{:>8} {:<14} {:<10} {:<46} attempt {}/{} due {} {}",
        job.id,
        plain(&job.kind),
        job.state.to_string(),
        subject(job),
        job.attempt,
        job.max_attempts,
        job.scheduled_at.format("%Y-%m-%d %H:%M:%S"),
        plain(&error),
    )
}

fn dead_document(row: &DeadLetterRow) -> Value {
    json!({
        "jobId": row.job_id, "kind": row.kind, "queue": row.queue, "state": row.state, "attempt": row.attempt,
        "maxAttempts": row.max_attempts, "argsSummary": row.args_summary, "errorCount": row.error_count, "lastError": row.last_error,
        "correlationId": row.correlation_id, "createdAt": row.created_at, "attemptedAt": row.attempted_at,
        "finalizedAt": row.finalized_at, "open": row.open,
    })
}

fn dead_line(row: &DeadLetterRow) -> String {
    format!(
        "{} {:>8} {:<14} {:<10} {} attempt {}/{} {}{}",
        row.finalized_at.format("%Y-%m-%d %H:%M:%S"),
        row.job_id,
        plain(&row.kind),
        row.state,
        plain(&row.args_summary.to_string()),
        row.attempt,
        row.max_attempts,
        plain(&row.last_error),
        if row.open { "  waits for a person" } else { "" }
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_those_of_the_seeds() {
        for state in [
            "dead_letter",
            "retryable",
            "running",
            "available",
            "scheduled",
            "completed",
        ] {
            assert!(states(state).is_ok(), "{state}");
        }
        assert!(states("lost").is_err());
    }
}
