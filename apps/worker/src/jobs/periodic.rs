//! Kind `periodic_task`: one run of one pass.

use std::{panic::AssertUnwindSafe, time::Duration};

use futures_util::FutureExt as _;
use queue::{Failure, Handler, Limit, Outcome, PeriodicArgs, Run};
use serde_json::{Value, json};
use service::passes::KIND;
use tokio::time::timeout;

use crate::{
    meter::{About, metered},
    passes::{self, Entry, PassParts},
};

/// A pass ends itself at its time limit; the queue takes it to be lost so much later.
const MARGIN: Duration = Duration::from_secs(30);

/// Runs passes.
#[derive(Clone, Debug)]
pub struct PeriodicJobs {
    parts: PassParts,
}

impl PeriodicJobs {
    /// Over what passes work with.
    pub const fn new(parts: PassParts) -> Self {
        Self { parts }
    }

    async fn attempt(&self, run: Run, args: PeriodicArgs) -> Result<Outcome, Failure> {
        let Some(entry) = passes::find(&args.task) else {
            tracing::error!(task = args.task, "there is no such pass");
            return Err(Failure::Cancel {
                code: "unknown_pass".to_owned(),
            });
        };
        match self.parts.service.begin_pass(entry.name, entry.interval).await {
            Ok(Some(begun)) => {
                let ended = tokio::select! {
                    biased;
                    ended = bounded(entry, &self.parts) => ended,
                    () = run.cancelled.cancelled() => Err("interrupted".to_owned()),
                };
                self.record(&run, entry, &begun, ended).await
            }
            Ok(None) => {
                count(entry.name, "skipped");
                Ok(Outcome::Done)
            }
            Err(fault) => self.failed(&run, entry, fault.code()).await,
        }
    }

    async fn record(
        &self,
        run: &Run,
        entry: &'static Entry,
        begun: &service::passes::PassRun,
        ended: Result<Value, String>,
    ) -> Result<Outcome, Failure> {
        let (succeeded, detail) = match &ended {
            Ok(report) => (true, report.clone()),
            Err(code) => (false, json!({ "code": code })),
        };
        if let Err(fault) = self.parts.service.end_pass(begun, succeeded, &detail).await {
            tracing::warn!(
                task = entry.name,
                code = fault.code(),
                "the end of a pass was not recorded"
            );
        }
        match ended {
            Ok(_) => {
                count(entry.name, "succeeded");
                Ok(Outcome::Done)
            }
            Err(_) if run.is_stopping() => Err(Failure::Interrupted),
            Err(code) => self.failed(run, entry, &code).await,
        }
    }

    async fn failed(&self, run: &Run, entry: &Entry, code: &str) -> Result<Outcome, Failure> {
        count(entry.name, "failed");
        tracing::error!(task = entry.name, code, "periodic task failed");
        if let Err(fault) = self.parts.service.bury_pass(entry.name, run.job_id, code).await {
            tracing::warn!(
                task = entry.name,
                code = fault.code(),
                "a failed pass left no dead letter"
            );
        }
        // The only attempt: the job ends discarded, and the next interval runs a fresh one.
        Err(Failure::Retry {
            after: entry.interval,
            code: code.to_owned(),
        })
    }
}

impl Handler<PeriodicArgs> for PeriodicJobs {
    fn limit(&self, args: &PeriodicArgs) -> Limit {
        passes::find(&args.task).map_or(Limit::Client, |entry| {
            Limit::After(entry.timeout.saturating_add(MARGIN))
        })
    }

    fn retry_delay(&self, _attempt: i32) -> Duration {
        Duration::from_mins(1)
    }

    async fn run(&self, run: Run, args: PeriodicArgs) -> Result<Outcome, Failure> {
        let task = args.task.clone();
        metered(
            KIND,
            &run,
            About::Pass(&task),
            Box::pin(self.attempt(run.clone(), args)),
        )
        .await
    }
}

async fn bounded(entry: &Entry, parts: &PassParts) -> Result<Value, String> {
    match timeout(entry.timeout, AssertUnwindSafe((entry.run)(parts)).catch_unwind()).await {
        Ok(Ok(ended)) => ended,
        Ok(Err(_)) => Err("pass_panicked".to_owned()),
        Err(_) => Err("pass_timed_out".to_owned()),
    }
}

fn count(task: &'static str, outcome: &'static str) {
    metrics::counter!("omniflow_pass_runs_total", "task" => task, "outcome" => outcome).increment(1);
}
