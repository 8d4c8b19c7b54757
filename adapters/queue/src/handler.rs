//! What running a job means, in our own words, and the bridge to River's.

use std::{future::Future, sync::Arc, time::Duration};

use riverqueue::{
    Job, JobArgs, JobCancelError, JobRow, WorkCancelled, WorkContext, WorkError, WorkOutcome, Worker, WorkerTimeout,
    Workers, jiff::Timestamp,
};
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use crate::QueueError;

/// One attempt of a job, as its handler sees it.
#[derive(Clone, Debug)]
pub struct Run {
    /// The queue's job.
    pub job_id: i64,
    /// River's count: rescues are in it, snoozes and interruptions are not.
    pub attempt: i32,
    /// What surrounds it: for logs, traces and metrics, never for a decision.
    pub surroundings: Surroundings,
    /// Fires when the attempt is to end: time is up, someone cancelled it, or the process stops.
    pub cancelled: CancellationToken,
    stopping: CancellationToken,
}

/// What is known of an attempt beside its arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Surroundings {
    /// Which queue it came through.
    pub queue: String,
    /// From when it was due until it was fetched, both by the database's clock.
    pub waited: Duration,
    /// Of the request that set it off.
    pub correlation_id: Option<String>,
    /// The span that set it off, as `traceparent` writes it. Text from a table: to be checked.
    pub traceparent: Option<String>,
}

impl Surroundings {
    fn of(row: &JobRow) -> Self {
        let metadata: Carried = serde_json::from_str(row.metadata.as_raw().get()).unwrap_or_default();
        let waited = row.attempted_at.map(|fetched| fetched.duration_since(row.scheduled_at));
        Self {
            queue: row.queue.clone(),
            waited: waited.and_then(|span| span.try_into().ok()).unwrap_or_default(),
            correlation_id: metadata.correlation_id,
            traceparent: metadata.traceparent,
        }
    }
}

/// What our inserts put beside a job.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Carried {
    correlation_id: Option<String>,
    traceparent: Option<String>,
}

impl Run {
    /// An attempt outside the queue, for driven runs and tests.
    pub fn driven(job_id: i64, attempt: i32) -> Self {
        Self {
            job_id,
            attempt,
            surroundings: Surroundings::default(),
            cancelled: CancellationToken::new(),
            stopping: CancellationToken::new(),
        }
    }

    /// The process stops: what was cut off is to be handed back, not counted as a failure.
    pub fn is_stopping(&self) -> bool {
        self.stopping.is_cancelled()
    }
}

/// How long an attempt may take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Limit {
    /// As long as the client allows every job.
    #[default]
    Client,
    /// This long. It is also the age at which the attempt is taken to be lost and rescued, so the handler itself must end earlier.
    After(Duration),
}

/// How an attempt ended well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Done for good.
    Done,
    /// Again after this time; costs no attempt.
    Snooze(Duration),
}

/// How an attempt ended otherwise.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// Again after exactly this time.
    #[error("{code}")]
    Retry {
        /// The schedule's answer; River's own is not asked.
        after: Duration,
        /// Stable code; kept with the job.
        code: String,
    },
    /// Never again.
    #[error("{code}")]
    Cancel {
        /// Stable code; kept with the job.
        code: String,
    },
    /// The process stops; available again at once, at no cost.
    #[error("interrupted")]
    Interrupted,
}

/// Runs the jobs of one kind.
pub trait Handler<A: JobArgs>: Send + Sync + 'static {
    /// How long an attempt may take.
    fn limit(&self, _args: &A) -> Limit {
        Limit::Client
    }

    /// When to try again after an attempt that ended without saying so: it panicked, or had to be aborted. `attempt` is River's count.
    fn retry_delay(&self, attempt: i32) -> Duration;

    /// Runs one attempt.
    fn run(&self, run: Run, args: A) -> impl Future<Output = Result<Outcome, Failure>> + Send;
}

/// The handlers of a worker process.
#[derive(Debug, Default)]
pub struct Handlers {
    pub(crate) workers: Workers,
    pub(crate) stopping: CancellationToken,
}

impl Handlers {
    /// None yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Registers the handler of a kind.
    ///
    /// # Errors
    /// [`QueueError`] when the kind has one already.
    pub fn add<A: JobArgs, H: Handler<A>>(&mut self, handler: H) -> Result<&mut Self, QueueError> {
        self.workers.add(Bridge {
            handler: Arc::new(handler),
            stopping: self.stopping.clone(),
        })?;
        Ok(self)
    }

    /// Kinds with a handler, sorted.
    pub fn kinds(&self) -> Vec<&'static str> {
        self.workers.kinds()
    }
}

/// What River records for an attempt that its rescuer took back.
pub(crate) const RESCUED: &str = "Stuck job rescued by JobRescuer";

struct Bridge<H> {
    handler: Arc<H>,
    stopping: CancellationToken,
}

/// Our failure as River's error: the failure itself stays reachable for [`Worker::next_retry`].
#[derive(Debug, thiserror::Error)]
enum BridgeError {
    #[error("{0}")]
    Failed(Failure),
    #[error("cancelled by the worker")]
    Cancelled(#[source] JobCancelError),
    #[error("interrupted")]
    Interrupted(#[source] WorkCancelled),
}

impl<A: JobArgs, H: Handler<A>> Worker<A> for Bridge<H> {
    type Error = BridgeError;

    fn next_retry(&self, job: &Job<A>, error: &WorkError, _now: Timestamp) -> Option<Duration> {
        Some(match error.downcast_ref::<BridgeError>() {
            Some(BridgeError::Failed(Failure::Retry { after, .. })) => *after,
            // A rescue has waited long enough already.
            None if error.to_string() == RESCUED => Duration::ZERO,
            _ => self.handler.retry_delay(job.row.attempt),
        })
    }

    fn timeout(&self, job: &Job<A>) -> WorkerTimeout {
        match self.handler.limit(&job.args) {
            Limit::Client => WorkerTimeout::ClientDefault,
            Limit::After(limit) => WorkerTimeout::After(limit),
        }
    }

    async fn work(&self, context: WorkContext, job: Job<A>) -> Result<WorkOutcome, BridgeError> {
        let run = Run {
            job_id: job.row.id,
            attempt: job.row.attempt,
            surroundings: Surroundings::of(&job.row),
            cancelled: context.cancellation_token().clone(),
            stopping: self.stopping.clone(),
        };
        match self.handler.run(run, job.args).await {
            Ok(Outcome::Done) => Ok(WorkOutcome::Complete),
            Ok(Outcome::Snooze(span)) => Ok(WorkOutcome::Snooze(span)),
            Err(Failure::Interrupted) => Err(BridgeError::Interrupted(WorkCancelled)),
            Err(Failure::Cancel { code }) => Err(BridgeError::Cancelled(JobCancelError::new(code))),
            Err(failure @ Failure::Retry { .. }) => Err(BridgeError::Failed(failure)),
        }
    }
}
