//! The processes: what each listens on and runs, and how it ends.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use api::{
    ApiState,
    health::{self, Health, Probe},
};
use ports::panel::{PanelReader, PanelWriter};
use projectors::publisher::{Publisher, standard};
use queue::QueueSizes;
use secrets::Secret;
use service::{
    delivery::SpendCeiling,
    maintenance::{Detection, Detector},
    notice_dispatch::NoticeDispatch,
};
use sqlx::PgPool;
use store::PoolOptions;
use telemetry::Metrics;
use tokio::{net::TcpListener, task::JoinSet};
use tokio_util::sync::CancellationToken;
use worker::{KnownKinds, Parts, Settings, Worker, passes::PassSettings};

use crate::{failure::Failure, wiring::core::Core};

/// How often the metrics recorder is told to forget what nobody reports any more.
const METRICS_UPKEEP: Duration = Duration::from_secs(5);
/// How often dependencies are asked whether they work.
const PROBES: Duration = Duration::from_secs(15);
/// How long a process takes for an orderly end before it goes anyway.
pub const STOP_LIMIT: Duration = Duration::from_secs(15);

/// Connections of the pool that projections, fence and health of a worker share.
pub const FOLLOWING_CONNECTIONS: u32 = 7;

/// Connections that a worker opens for jobs of these queues, its queue client's upkeep included.
pub fn worker_connections(sizes: QueueSizes) -> u32 {
    u32::try_from(sizes.critical.saturating_add(sizes.default).saturating_add(sizes.bulk))
        .unwrap_or(u32::MAX)
        .saturating_add(5)
}

/// Parts that run until they are told to stop, or until one fails.
#[derive(Debug)]
pub struct Running {
    parts: JoinSet<Result<(), Failure>>,
    stop: CancellationToken,
}

impl Running {
    /// Nothing yet.
    pub fn new() -> Self {
        Self {
            parts: JoinSet::new(),
            stop: CancellationToken::new(),
        }
    }

    /// A token that is cancelled when the process is to stop.
    pub fn stopping(&self) -> CancellationToken {
        self.stop.clone()
    }

    /// Adds a part.
    pub fn spawn(&mut self, part: impl Future<Output = Result<(), Failure>> + Send + 'static) {
        self.parts.spawn(part);
    }

    /// Waits for a part that ends by itself: that is a failure, whatever it says.
    pub async fn failed(&mut self) -> Failure {
        match self.parts.join_next().await {
            Some(Ok(Err(failure))) => failure,
            Some(Ok(Ok(()))) => Failure::unavailable("a part of the process ended by itself"),
            Some(Err(crash)) => Failure::unavailable(format!("a part of the process crashed: {crash}")),
            None => std::future::pending().await,
        }
    }

    /// Tells every part to stop and waits, for a bounded time.
    ///
    /// # Errors
    /// The first failure of a part.
    pub async fn stop(mut self) -> Result<(), Failure> {
        self.stop.cancel();
        let ended = tokio::time::timeout(STOP_LIMIT, async {
            let mut outcome = Ok(());
            while let Some(part) = self.parts.join_next().await {
                if let Ok(Err(failure)) = part {
                    outcome = outcome.and(Err(failure));
                }
            }
            outcome
        });
        ended.await.unwrap_or_else(|_| {
            Err(Failure::unavailable(
                "the process did not stop in time; what it held is handed back later",
            ))
        })
    }
}

/// Opens the listener of a process; the answer names the address that it really has.
///
/// # Errors
/// [`Failure::Unavailable`] when the address is taken.
pub async fn listen(address: SocketAddr) -> Result<(TcpListener, SocketAddr), Failure> {
    let refused = |error| Failure::unavailable(format!("{address} cannot be listened on: {error}"));
    let listener = TcpListener::bind(address).await.map_err(refused)?;
    let bound = listener.local_addr()?;
    Ok((listener, bound))
}

/// Runs the HTTP API.
pub fn run_api(
    running: &mut Running,
    core: &Core,
    listener: TcpListener,
    token: Option<Secret>,
    metrics: Option<Metrics>,
) {
    // Not the outbox: an API must not leave the rotation because the workers are down.
    let probes = vec![Probe::postgres(&core.service)];
    let health = Health::new(probes, Arc::clone(core.service.clock()));
    run_probes(running, health.clone());
    let state = ApiState::new(
        core.service.clone(),
        token.unwrap_or_else(|| Secret::new(String::new())),
        health,
        metrics,
    );
    let stop = running.stopping();
    running.spawn(async move {
        api::serve(listener, api::router(state), stop.cancelled_owned())
            .await
            .map_err(Failure::from)
    });
}

/// Watches the database and the panel, and opens and closes windows of maintenance. Every API process does.
pub fn run_detection(running: &mut Running, core: &Core, panel: Option<Arc<dyn PanelReader>>, detection: Detection) {
    let mut detector = Detector::new(core.service.clone(), panel, detection);
    let stop = running.stopping();
    running.spawn(async move {
        loop {
            tokio::select! {
                () = stop.cancelled() => return Ok(()),
                _ = detector.sample() => {}
            }
            tokio::select! {
                () = stop.cancelled() => return Ok(()),
                () = tokio::time::sleep(detector.every()) => {}
            }
        }
    });
}

/// What a worker needs beside the core.
#[derive(Debug)]
pub struct WorkerParts {
    /// The one panel.
    pub panel: Arc<dyn PanelWriter>,
    /// Where and how it connects; the pool size is not used.
    pub connect: PoolOptions,
    /// Pool of projections, fence and health.
    pub following: PgPool,
    /// Jobs at once.
    pub sizes: QueueSizes,
    /// What may be spent at the goods gateway; `None` is no limit.
    pub ceiling: Option<SpendCeiling>,
    /// What the installation chose about its passes.
    pub passes: PassSettings,
    /// Tells operators what happens; `None` where there is no group.
    pub notices: Option<NoticeDispatch>,
    /// Names this worker among the others.
    pub id: String,
}

/// Runs jobs and passes, the publisher, and the projections. Answers once jobs are fetched, with the kinds that it can run.
///
/// # Errors
/// [`Failure::Unavailable`] when the queue's client does not start.
pub async fn run_worker(running: &mut Running, core: &Core, parts: WorkerParts) -> Result<KnownKinds, Failure> {
    let publisher = Publisher::new(parts.connect, standard());
    let stop = running.stopping();
    running.spawn(async move {
        publisher.run(stop).await;
        Ok(())
    });
    let stop = running.stopping();
    running.spawn(async move {
        projectors::runner::run_all(parts.following, stop)
            .await
            .map_err(Failure::unavailable)
    });

    run_notices(running, parts.notices);
    let (service, stop) = (core.service.clone(), running.stopping());
    running.spawn(async move {
        worker::report_until(service, stop).await;
        Ok(())
    });

    let settings = Settings {
        sizes: parts.sizes,
        ..Settings::named(parts.id)
    };
    let worker_parts = Parts {
        service: core.service.clone(),
        panel: parts.panel,
        ceiling: parts.ceiling,
        passes: parts.passes,
    };
    let mut worker = Worker::start(&worker_parts, settings).map_err(Failure::unavailable)?;
    worker.ready().await.map_err(Failure::unavailable)?;
    let known = worker.known_kinds();
    let stop = running.stopping();
    running.spawn(async move {
        tokio::select! {
            () = stop.cancelled() => worker.stop().await.map_err(Failure::unavailable),
            ended = worker.failed() => ended.map_err(Failure::unavailable),
        }
    });
    Ok(known)
}

/// Sends notices while it is this process's turn. Without a group they are kept, and that is said once.
fn run_notices(running: &mut Running, notices: Option<NoticeDispatch>) {
    let Some(notices) = notices else {
        tracing::info!(
            "operators are told nothing: no bot and group are configured (APP_TELEGRAM_TOKEN, APP_OPERATOR_CHAT_ID)"
        );
        return;
    };
    let stop = running.stopping();
    running.spawn(async move {
        worker::notices::run(&notices, &stop).await;
        Ok(())
    });
}

/// Serves liveness, readiness and metrics of a worker.
///
/// A worker that finds jobs of kinds it cannot run is not ready: somebody went back to an older version, and those jobs would wait unseen.
pub fn run_health(
    running: &mut Running,
    core: &Core,
    listener: TcpListener,
    metrics: Option<Metrics>,
    known: KnownKinds,
) {
    let jobs = Probe::new("jobs", move || {
        let known = known.clone();
        async move { known.unhandled().await.is_ok_and(|kinds| kinds.is_empty()) }
    });
    let probes = vec![Probe::postgres(&core.service), Probe::outbox(&core.service), jobs];
    let health = Health::new(probes, Arc::clone(core.service.clock()));
    run_probes(running, health.clone());
    let stop = running.stopping();
    running.spawn(async move {
        api::serve(listener, health::router(health, metrics), stop.cancelled_owned())
            .await
            .map_err(Failure::from)
    });
}

/// Keeps the metrics recorder tidy, and reports what only the process itself knows: its runtime, its pools by name.
pub fn run_upkeep(running: &mut Running, metrics: Metrics, pools: Vec<(&'static str, PgPool)>) {
    let stop = running.stopping();
    running.spawn(async move {
        loop {
            let tasks = tokio::runtime::Handle::current().metrics().num_alive_tasks();
            metrics::gauge!("omniflow_runtime_alive_tasks").set(u32::try_from(tasks).unwrap_or(u32::MAX));
            for (pool, connections) in &pools {
                let idle = u32::try_from(connections.num_idle()).unwrap_or(u32::MAX);
                let used = connections.size().saturating_sub(idle);
                metrics::gauge!("omniflow_database_connections", "pool" => *pool, "state" => "idle").set(idle);
                metrics::gauge!("omniflow_database_connections", "pool" => *pool, "state" => "used").set(used);
            }
            tokio::select! {
                () = stop.cancelled() => return Ok(()),
                () = tokio::time::sleep(METRICS_UPKEEP) => metrics.upkeep(),
            }
        }
    });
}

/// Asks the dependencies now and then, so that their gauges tell the truth where nobody asks for readiness.
fn run_probes(running: &mut Running, health: Health) {
    let stop = running.stopping();
    running.spawn(async move {
        loop {
            health.look().await;
            tokio::select! {
                () = stop.cancelled() => return Ok(()),
                () = tokio::time::sleep(PROBES) => {}
            }
        }
    });
}

/// Resolves when a person or the service manager asks the process to end. Listens from the call on, not only from the first poll.
pub fn asked_to_stop() -> impl Future<Output = ()> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut signals = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()]
        .map(signal)
        .into_iter()
        .flatten();
    let signals = (signals.next(), signals.next(), signals.next());
    async move {
        let (Some(mut interrupt), Some(mut terminate), Some(mut hangup)) = signals else {
            return std::future::pending().await;
        };
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hangup.recv() => {}
        }
    }
}

/// A short name that no other running process has.
pub fn process_id(role: &str) -> String {
    format!("{role}-{}-{:08x}", std::process::id(), rand::random::<u32>())
}
