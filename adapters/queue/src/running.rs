//! The client that executes jobs, with the timing that lets a killed worker's jobs run again within a minute.

use std::{fmt, time::Duration};

use riverqueue::{
    Client, IntervalSchedule, MaintenanceConfig, PeriodicJob, PeriodicJobOpts, QueueConfig, Retention, RunHandle,
    Stopper,
    database::{PostgresDatabase, PostgresReindexConfig, SchemaName},
};
use sqlx::PgPool;
use tokio_util::sync::CancellationToken;

use crate::{Handlers, PeriodicArgs, QueueError, QueueSizes, Queues, SCHEMA};

/// Spans of the queue's upkeep. `deadline of a run < job_timeout; job_timeout + stuck_after < rescue_after` must hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// An attempt is told to end after this, unless its handler has a limit of its own.
    pub job_timeout: Duration,
    /// An attempt that was told to end is aborted after this.
    pub stuck_after: Duration,
    /// A running job is taken to be lost after this.
    pub rescue_after: Duration,
    /// How often the leader looks for lost and for due jobs, and how often a leader is elected.
    pub upkeep_every: Duration,
    /// Least time between two fetches of the critical queue.
    pub fetch_cooldown: Duration,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            job_timeout: Duration::from_secs(20),
            stuck_after: Duration::from_secs(5),
            rescue_after: Duration::from_secs(30),
            upkeep_every: Duration::from_secs(5),
            fetch_cooldown: Duration::from_millis(4),
        }
    }
}

/// A periodic pass as the leader enqueues it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pass {
    /// Its name: the `task` of [`PeriodicArgs`].
    pub name: &'static str,
    /// From start to start.
    pub every: Duration,
}

/// Settings of a client that executes.
#[derive(Debug)]
pub struct WorkerOptions {
    /// Names this process among the others: short (it is kept with every attempt) and unlike any other running process.
    pub id: String,
    /// Where its statements run.
    pub pool: PgPool,
    /// Jobs at once.
    pub sizes: QueueSizes,
    /// Time limits and upkeep.
    pub timing: Timing,
    /// How long running jobs may go on once a stop is asked for.
    pub grace: Duration,
    /// What the leader enqueues periodically.
    pub passes: Vec<Pass>,
}

/// A client that executes jobs until it is stopped.
pub struct Running {
    handle: RunHandle,
    stopper: Stopper,
    stopping: CancellationToken,
}

impl fmt::Debug for Running {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Running").finish_non_exhaustive()
    }
}

impl Running {
    /// Builds the client and starts executing.
    ///
    /// # Errors
    /// [`QueueError::Configuration`] when the timing contradicts itself; [`QueueError::Client`] when River refuses to start.
    pub fn start(options: WorkerOptions, handlers: Handlers) -> Result<Self, QueueError> {
        check(&options.timing)?;
        let stopping = handlers.stopping.clone();
        let client = build(options, handlers)?;
        let handle = client.start()?;
        Ok(Self {
            stopper: handle.stopper(),
            handle,
            stopping,
        })
    }

    /// Stops fetching, lets running jobs end within the grace, then cancels and hands back the rest.
    ///
    /// # Errors
    /// [`QueueError::Client`] when an essential part of the client had failed.
    pub async fn stop(mut self) -> Result<(), QueueError> {
        self.stopping.cancel();
        self.stopper.stop();
        Ok(self.handle.wait().await?)
    }

    /// Waits until the client listens and fetches.
    ///
    /// # Errors
    /// [`QueueError::Client`] when it stopped before.
    pub async fn ready(&mut self) -> Result<(), QueueError> {
        Ok(self.handle.wait_ready().await?)
    }

    /// Waits for an end nobody asked for.
    ///
    /// # Errors
    /// [`QueueError::Client`] with the reason.
    pub async fn failed(&mut self) -> Result<(), QueueError> {
        Ok(self.handle.wait().await?)
    }
}

fn check(timing: &Timing) -> Result<(), QueueError> {
    let latest = timing.job_timeout.saturating_add(timing.stuck_after);
    if latest >= timing.rescue_after {
        return Err(QueueError::Configuration(
            "a job must be aborted before it is rescued: job timeout + stuck threshold < rescue age".to_owned(),
        ));
    }
    Ok(())
}

fn build(options: WorkerOptions, handlers: Handlers) -> Result<Client, QueueError> {
    let timing = options.timing;
    let schema = SchemaName::new(SCHEMA).map_err(|error| QueueError::Configuration(error.to_string()))?;
    let database = PostgresDatabase::new(options.pool)
        .with_schema(schema)
        // Rebuilding an index takes its owner; processes run as a role that owns none.
        .with_reindex(PostgresReindexConfig::default().with_index_names(Vec::<String>::new()));
    let maintenance = MaintenanceConfig::default()
        .with_rescue_after(timing.rescue_after)
        .with_rescuer_interval(timing.upkeep_every)
        .with_elect_interval(timing.upkeep_every)
        .with_scheduler_interval(timing.upkeep_every)
        .with_completed_job_retention(Retention::DeleteAfter(Duration::from_hours(24)))
        // Those without success are removed by us, once our own record holds them.
        .with_cancelled_job_retention(Retention::Keep)
        .with_discarded_job_retention(Retention::Keep);
    let queue = |size: usize| QueueConfig::new(size).with_fetch_poll_interval(Duration::from_secs(1));
    let mut builder = Client::builder(database)
        .id(options.id)
        .workers(handlers.workers)
        .queue(Queues::CRITICAL, queue(options.sizes.critical).with_fetch_cooldown(timing.fetch_cooldown))
        .queue(Queues::DEFAULT, queue(options.sizes.default))
        .queue(Queues::BULK, queue(options.sizes.bulk))
        .job_timeout(timing.job_timeout)
        .job_stuck_threshold(timing.stuck_after)
        .soft_stop_timeout(options.grace.max(Duration::from_millis(1)))
        .maintenance(maintenance)
        // A job of a later version stays where it is until a worker that knows it starts.
        .fetch_only_known_kinds(true);
    for pass in options.passes {
        let schedule = IntervalSchedule::new(pass.every)?;
        let name = pass.name;
        builder = builder.periodic_job(PeriodicJob::with_options(
            schedule,
            move || PeriodicArgs { task: name.to_owned() },
            PeriodicJobOpts::new().with_id(name).with_run_on_start(true),
        ));
    }
    Ok(builder.build()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attempt_is_aborted_before_it_is_rescued() {
        assert!(check(&Timing::default()).is_ok());
        let late = Timing {
            stuck_after: Duration::from_secs(10),
            ..Timing::default()
        };
        assert!(matches!(check(&late), Err(QueueError::Configuration(_))));
    }
}
