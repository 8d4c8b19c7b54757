//! `jobs …`: rows of the queue, as an operator sees and changes them. Arguments stay behind the records they point at.

use std::{path::PathBuf, process::ExitCode};

use queue::{JobState, JobView, ListingFilter, Subject};
use serde_json::{Value, json};

use super::{events::plain, operator};
use crate::{cli::JobsCommand, commands::say, config::Config, failure::Failure};

pub(super) async fn run(command: JobsCommand, config: Config, data_dir: PathBuf) -> Result<ExitCode, Failure> {
    let service = operator::service(&config, &data_dir).await?;
    match command {
        JobsCommand::List { state, limit, json } => {
            let filter = ListingFilter {
                states: states(&state)?,
                limit,
                before: None,
            };
            let listing = service.list_jobs(&filter).await?;
            if json {
                let items: Vec<_> = listing.jobs.iter().map(document).collect();
                say(&json!({"state": state, "items": items, "next": listing.next}).to_string());
            } else if listing.jobs.is_empty() {
                say(&format!("no job is {state}"));
            } else {
                listing.jobs.iter().for_each(|job| say(&line(job)));
            }
        }
        JobsCommand::Show { id, json } => {
            let job = service.job(id).await?;
            say(&if json { document(&job).to_string() } else { line(&job) });
        }
        JobsCommand::Retry { id } => say(&line(&service.retry_job(&operator::caller("cli"), id).await?)),
        JobsCommand::Cancel { id } => say(&line(&service.cancel_job(&operator::caller("cli"), id).await?)),
    }
    Ok(ExitCode::SUCCESS)
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
        "id": job.id, "kind": job.kind, "queue": job.queue, "state": job.state.to_string(), "subject": subject(job),
        "attempt": job.attempt, "maxAttempts": job.max_attempts, "createdAt": job.created_at, "scheduledAt": job.scheduled_at,
        "attemptedAt": job.attempted_at, "finalizedAt": job.finalized_at, "errorCount": job.error_count,
        "lastError": secrets::redact::text(&job.last_error),
    })
}

fn line(job: &JobView) -> String {
    let error = secrets::redact::text(&job.last_error);
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
