//! Liveness and readiness, the same on every process that listens.

use std::{
    collections::BTreeMap,
    fmt,
    future::Future,
    pin::Pin,
    sync::Arc,
    time::{Duration, Instant},
};

use axum::{Json, Router, extract::State, http::StatusCode, response::IntoResponse, routing::get};
use chrono::{DateTime, Utc};
use ports::clock::Clock;
use serde::Serialize;
use service::Service;
use telemetry::Metrics;
use tokio::sync::Mutex;

use crate::envelope::Complete;

/// How long a result is good.
const FRESH: Duration = Duration::from_secs(2);
/// Patience with one probe.
const PATIENCE: Duration = Duration::from_secs(3);
/// An outbox row that waits longer than this says that no publisher works.
const OUTBOX_STALE_SECONDS: i64 = 300;

type Run = Arc<dyn Fn() -> Pin<Box<dyn Future<Output = bool> + Send>> + Send + Sync>;

/// One dependency, and how to ask whether it works.
#[derive(Clone)]
pub struct Probe {
    name: &'static str,
    run: Run,
}

impl fmt::Debug for Probe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Probe")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

impl Probe {
    /// A probe that answers whether the dependency works.
    pub fn new<Answer>(name: &'static str, run: impl Fn() -> Answer + Send + Sync + 'static) -> Self
    where
        Answer: Future<Output = bool> + Send + 'static,
    {
        Self {
            name,
            run: Arc::new(move || Box::pin(run())),
        }
    }

    /// The database.
    pub fn postgres(service: &Service) -> Self {
        let pool = service.store().pool().clone();
        Self::new("postgres", move || {
            let pool = pool.clone();
            async move { store::health::ping(&pool).await.is_ok() }
        })
    }

    /// The publisher: false when something has been waiting in the outbox for more than five minutes.
    pub fn outbox(service: &Service) -> Self {
        let service = service.clone();
        Self::new("outbox", move || {
            let service = service.clone();
            async move {
                service
                    .outbox_backlog()
                    .await
                    .is_ok_and(|backlog| backlog.oldest_age_seconds <= OUTBOX_STALE_SECONDS)
            }
        })
    }
}

/// The probes of a process and what they said last.
#[derive(Clone, Debug)]
pub struct Health(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    probes: Vec<Probe>,
    clock: Arc<dyn Clock>,
    last: Mutex<Option<(Instant, Vec<Check>)>>,
    failures: Mutex<BTreeMap<&'static str, u32>>,
}

/// What a probe said.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Check {
    name: &'static str,
    healthy: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'static str>,
    checked_at: DateTime<Utc>,
    latency_ms: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    consecutive_failures: Option<u32>,
}

impl Health {
    /// These probes, reported in this order.
    pub fn new(probes: Vec<Probe>, clock: Arc<dyn Clock>) -> Self {
        Self(Arc::new(Inner {
            probes,
            clock,
            last: Mutex::default(),
            failures: Mutex::default(),
        }))
    }

    /// Asks all, or repeats what they said less than two seconds ago. Those who ask meanwhile wait for the same answer.
    async fn checks(&self) -> Vec<Check> {
        let mut last = self.0.last.lock().await;
        if let Some((at, checks)) = last.as_ref()
            && at.elapsed() < FRESH
        {
            return checks.clone();
        }
        let mut checks = Vec::with_capacity(self.0.probes.len());
        for probe in &self.0.probes {
            checks.push(self.ask(probe).await);
        }
        *last = Some((Instant::now(), checks.clone()));
        checks
    }

    /// Asks all, for the gauges alone.
    pub async fn look(&self) {
        self.checks().await;
    }

    async fn ask(&self, probe: &Probe) -> Check {
        let started = Instant::now();
        let error = match tokio::time::timeout(PATIENCE, (probe.run)()).await {
            Ok(true) => None,
            Ok(false) => Some("unavailable"),
            Err(_) => Some("timeout"),
        };
        let up = if error.is_none() { 1.0 } else { 0.0 };
        metrics::gauge!("omniflow_dependency_up", "dependency" => probe.name).set(up);
        let mut failures = self.0.failures.lock().await;
        let count = failures.entry(probe.name).or_default();
        *count = if error.is_none() { 0 } else { count.saturating_add(1) };
        Check {
            name: probe.name,
            healthy: error.is_none(),
            error,
            checked_at: self.0.clock.now(),
            latency_ms: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
            consecutive_failures: (*count > 0).then_some(*count),
        }
    }
}

#[derive(Clone, Debug)]
struct HealthState {
    health: Health,
    metrics: Option<Metrics>,
}

/// `/livez`, `/healthz`, `/readyz`, and `/metrics` where there are metrics: all that a worker answers, and part of what the api does.
pub fn router(health: Health, metrics: Option<Metrics>) -> Router {
    let with_metrics = metrics.is_some();
    let router = Router::new()
        .route("/livez", get(live))
        .route("/healthz", get(live))
        .route("/readyz", get(ready));
    let router = if with_metrics {
        router.route("/metrics", get(render))
    } else {
        router
    };
    router.with_state(HealthState { health, metrics })
}

async fn live() -> impl IntoResponse {
    Json(serde_json::json!({ "status": "ok", "version": env!("CARGO_PKG_VERSION") }))
}

async fn ready(State(state): State<HealthState>) -> impl IntoResponse {
    let checks = state.health.checks().await;
    let failing = checks.iter().filter(|check| !check.healthy).count();
    let (status, word) = if failing == 0 {
        (StatusCode::OK, "ready")
    } else {
        tracing::warn!(failing, "not ready");
        (StatusCode::SERVICE_UNAVAILABLE, "degraded")
    };
    let mut response = (status, Json(serde_json::json!({ "status": word, "checks": checks }))).into_response();
    response.extensions_mut().insert(Complete);
    response
}

async fn render(State(state): State<HealthState>) -> impl IntoResponse {
    let text = state.metrics.map(|metrics| metrics.render()).unwrap_or_default();
    ([("content-type", "text/plain; version=0.0.4")], text)
}
