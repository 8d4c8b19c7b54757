//! Putting a worker together.

use std::{sync::Arc, time::Duration};

use ports::panel::PanelWriter;
use queue::{Handlers, JobClient, Pass, QueueError, QueueSizes, Running, Timing, WorkerOptions};
use service::{Service, delivery::SpendCeiling};

use crate::{
    PanelPause,
    jobs::{FulfillmentJobs, GoodsJobs, PeriodicJobs},
    passes::{self, PassParts, PassSettings},
};

/// What a worker works with.
#[derive(Clone, Debug)]
pub struct Parts {
    /// The use cases; must hold a client of the queue.
    pub service: Service,
    /// The one panel.
    pub panel: Arc<dyn PanelWriter>,
    /// What may be spent at a goods provider; `None` is no limit.
    pub ceiling: Option<SpendCeiling>,
    /// What the installation chose about its passes.
    pub passes: PassSettings,
}

/// How a worker works.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Names this process among the others: short, and unlike any other running process.
    pub id: String,
    /// Jobs at once.
    pub sizes: QueueSizes,
    /// Time limits and upkeep.
    pub timing: Timing,
    /// How long running jobs may go on after a stop was asked for.
    pub grace: Duration,
}

impl Settings {
    /// The defaults, under a name.
    pub fn named(id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            sizes: QueueSizes::default(),
            timing: Timing::default(),
            grace: Duration::from_secs(10),
        }
    }
}

/// A worker that runs.
#[derive(Debug)]
pub struct Worker {
    running: Running,
    queue: JobClient,
    kinds: Vec<&'static str>,
}

impl Worker {
    /// Registers every kind and every pass, and starts.
    ///
    /// # Errors
    /// [`QueueError::Configuration`] when the service has no client of the queue or the timing contradicts itself.
    pub fn start(parts: &Parts, settings: Settings) -> Result<Self, QueueError> {
        let service = &parts.service;
        let queue = service
            .queue()
            .ok_or_else(|| QueueError::Configuration("a worker needs a client of the queue".to_owned()))?;
        let handlers = handlers(parts, &settings.id)?;
        let kinds = handlers.kinds();
        let options = WorkerOptions {
            id: settings.id,
            pool: queue.pool().clone(),
            sizes: settings.sizes,
            timing: settings.timing,
            grace: settings.grace,
            passes: passes::table(&parts.passes)
                .into_iter()
                .map(|entry| Pass {
                    name: entry.name,
                    every: entry.interval,
                })
                .collect(),
        };
        Ok(Self {
            running: Running::start(options, handlers)?,
            queue: queue.clone(),
            kinds,
        })
    }

    /// What tells whether jobs of unknown kinds wait; it lives on when the worker is moved away.
    pub fn known_kinds(&self) -> KnownKinds {
        KnownKinds {
            queue: self.queue.clone(),
            kinds: self.kinds.clone(),
        }
    }

    /// Waits until it listens and fetches. Jobs of kinds it does not know are named in the log and stay where they are.
    ///
    /// # Errors
    /// [`QueueError`] when it stopped before.
    pub async fn ready(&mut self) -> Result<(), QueueError> {
        self.running.ready().await?;
        self.tell_last_successes().await;
        for kind in self.unhandled_kinds().await? {
            tracing::warn!(kind, "jobs of a kind that this version does not know are waiting");
        }
        Ok(())
    }

    /// A worker that has just started knows from the ledger when passes went well last; without that an alert would wait for their next run.
    async fn tell_last_successes(&self) {
        let runs = match store::pass_runs::list(self.queue.pool()).await {
            Ok(runs) => runs,
            Err(error) => {
                tracing::warn!(code = error.code(), "the ledger of passes was not read");
                return;
            }
        };
        for entry in passes::TABLE {
            let last = runs.iter().find(|run| run.task == entry.name);
            let begun = last.and_then(|run| run.last_success_at).map_or(0, |at| at.timestamp());
            metrics::gauge!("omniflow_pass_last_success_timestamp_seconds", "task" => entry.name)
                .set(passes::unix_seconds(begun));
        }
    }

    /// Kinds of waiting jobs that this version cannot run: somebody went back to it, or starts it too early.
    ///
    /// # Errors
    /// [`QueueError`] when the queue cannot be read.
    pub async fn unhandled_kinds(&self) -> Result<Vec<String>, QueueError> {
        self.known_kinds().unhandled().await
    }

    /// Waits for an end nobody asked for.
    ///
    /// # Errors
    /// [`QueueError`] with the reason.
    pub async fn failed(&mut self) -> Result<(), QueueError> {
        self.running.failed().await
    }

    /// Stops fetching, lets running jobs end within the grace, and hands back the rest.
    ///
    /// # Errors
    /// [`QueueError`] when an essential part had failed.
    pub async fn stop(self) -> Result<(), QueueError> {
        self.running.stop().await
    }
}

/// The kinds of jobs that a worker runs, beside the queue that may hold others.
#[derive(Clone, Debug)]
pub struct KnownKinds {
    queue: JobClient,
    kinds: Vec<&'static str>,
}

impl KnownKinds {
    /// Kinds of waiting jobs that are none of these.
    ///
    /// # Errors
    /// [`QueueError`] when the queue cannot be read.
    pub async fn unhandled(&self) -> Result<Vec<String>, QueueError> {
        self.queue.unhandled_kinds(&self.kinds).await
    }
}

fn handlers(parts: &Parts, id: &str) -> Result<Handlers, QueueError> {
    let service = &parts.service;
    let passes = PassParts::new(service, parts.ceiling, parts.passes, id)?;
    let mut handlers = Handlers::new();
    handlers.add(FulfillmentJobs::new(
        passes.fulfillment.clone(),
        Arc::clone(&parts.panel),
        PanelPause::default(),
        Arc::clone(service.clock()),
    ))?;
    handlers.add(GoodsJobs::new(
        passes.deliveries.clone(),
        service.goods().clone(),
        service.goods_enabled(),
    ))?;
    handlers.add(PeriodicJobs::new(passes))?;
    Ok(handlers)
}
