//! Putting a worker together.

use std::{sync::Arc, time::Duration};

use ports::panel::PanelWriter;
use queue::{Handlers, QueueError, QueueSizes, Running, Timing, WorkerOptions};
use service::{Service, fulfillment::Fulfillment};

use crate::{PanelPause, jobs::FulfillmentJobs};

/// What a worker works with.
#[derive(Clone, Debug)]
pub struct Parts {
    /// The use cases; must hold a client of the queue.
    pub service: Service,
    /// The one panel.
    pub panel: Arc<dyn PanelWriter>,
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
        let fulfillment = Fulfillment::new(
            service.store().clone(),
            queue.clone(),
            Arc::clone(service.clock()),
            Arc::clone(service.ids()),
        );
        let mut handlers = Handlers::new();
        handlers.add(FulfillmentJobs::new(
            fulfillment,
            Arc::clone(&parts.panel),
            PanelPause::default(),
            Arc::clone(service.clock()),
        ))?;
        let options = WorkerOptions {
            id: settings.id,
            pool: queue.pool().clone(),
            sizes: settings.sizes,
            timing: settings.timing,
            grace: settings.grace,
            passes: Vec::new(),
        };
        Ok(Self {
            running: Running::start(options, handlers)?,
        })
    }

    /// Waits until it listens and fetches.
    ///
    /// # Errors
    /// [`QueueError`] when it stopped before.
    pub async fn ready(&mut self) -> Result<(), QueueError> {
        self.running.ready().await
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
