//! Kind `periodic_task`: one run of one pass.

use std::time::Duration;

use queue::{Failure, Handler, Limit, Outcome, PeriodicArgs, Run};
use service::passes::KIND;

use crate::{
    meter::{About, metered},
    passes::{self, Asked, PassParts, Ran},
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
        let Some(entry) = passes::find(&args.task, &self.parts.settings) else {
            tracing::error!(task = args.task, "there is no such pass");
            return Err(Failure::Cancel {
                code: "unknown_pass".to_owned(),
            });
        };
        // The only attempt: a job that fails ends discarded, and the next interval runs a fresh one.
        let failed = |code| Failure::Retry {
            after: entry.interval,
            code,
        };
        let stopped = run.cancelled.cancelled();
        match passes::run(&self.parts, &entry, &Asked::ByJob(run.job_id), stopped).await {
            Ok(Ran::Ended(Ok(_)) | Ran::NotDue | Ran::Busy { .. }) => Ok(Outcome::Done),
            Ok(Ran::Ended(Err(code))) => Err(failed(code)),
            Ok(Ran::Interrupted) if run.is_stopping() => Err(Failure::Interrupted),
            Ok(Ran::Interrupted) => Err(failed("interrupted".to_owned())),
            Err(code) => {
                tracing::error!(task = entry.name, code, "periodic task failed");
                Err(failed(code))
            }
        }
    }
}

impl Handler<PeriodicArgs> for PeriodicJobs {
    fn limit(&self, args: &PeriodicArgs) -> Limit {
        passes::find(&args.task, &self.parts.settings).map_or(Limit::Client, |entry| {
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
