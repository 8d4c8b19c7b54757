//! Count and duration of job runs.

use std::{future::Future, time::Instant};

use queue::{Failure, Outcome};

/// Runs one attempt and meters it.
pub(crate) async fn metered(
    kind: &'static str,
    attempt: impl Future<Output = Result<Outcome, Failure>>,
) -> Result<Outcome, Failure> {
    let started = Instant::now();
    let ended = attempt.await;
    let outcome = match &ended {
        Ok(Outcome::Done) => "succeeded",
        Ok(Outcome::Snooze(_)) => "snoozed",
        Err(Failure::Retry { .. }) => "failed",
        Err(Failure::Cancel { .. }) => "cancelled",
        Err(Failure::Interrupted) => "interrupted",
    };
    metrics::counter!("omniflow_jobs_total", "kind" => kind, "outcome" => outcome).increment(1);
    metrics::histogram!("omniflow_job_duration_seconds", "kind" => kind).record(started.elapsed().as_secs_f64());
    ended
}
