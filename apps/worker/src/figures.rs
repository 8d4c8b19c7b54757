//! Gauges that are read from the database. Every worker reports the same; whoever draws them takes the largest.

use std::time::Duration;

use queue::{Depth, Queues};
use service::Service;
use store::figures::{Figure, figures};
use tokio_util::sync::CancellationToken;

/// Pause between two looks.
const EVERY: Duration = Duration::from_secs(5);
/// Patience with one look.
const PATIENCE: Duration = Duration::from_secs(3);

const STATUSES: [&str; 4] = ["pending", "running", "retrying", "failed"];
const DELIVERY_STATUSES: [&str; 3] = ["pending", "submitted", "needs_review"];
const BOUGHT: [&str; 2] = ["access", "goods"];
const KINDS: [&str; 3] = [
    service::fulfillment::KIND,
    service::delivery::KIND,
    service::passes::KIND,
];
const DRIFTS: [&str; 6] = [
    "missing_remote",
    "expiry",
    "traffic",
    "device_limit",
    "squads",
    "status",
];
const QUEUES: [&str; 3] = [Queues::CRITICAL, Queues::DEFAULT, Queues::BULK];
const STATES: [&str; 6] = ["available", "pending", "retryable", "running", "scheduled", "discarded"];

/// Reports until `stop`. A look that fails is repeated; the database has its own alarm.
pub async fn report_until(service: Service, stop: CancellationToken) {
    loop {
        if tokio::time::timeout(PATIENCE, report(&service)).await.is_err() {
            tracing::debug!("the figures of the installation were not answered in time");
        }
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(EVERY) => {}
        }
    }
}

/// One look.
async fn report(service: &Service) {
    match figures(service.store().pool()).await {
        Ok(figures) => set_figures(&figures),
        Err(error) => tracing::debug!(code = error.code(), "the figures of the installation cannot be read"),
    }
    let Some(queue) = service.queue() else { return };
    match queue.depths().await {
        Ok(depths) => set_depths(&depths),
        Err(error) => tracing::debug!(code = error.code(), "the figures of the queue cannot be read"),
    }
}

/// What is not in the answer is zero: a gauge that kept its last value would alarm for ever.
fn set_figures(figures: &[Figure]) {
    let counted = |what: &str, label: &str| {
        let of = |figure: &&Figure| figure.what == what && figure.label == label;
        figures.iter().find(of).map_or(0.0, |figure| to_float(figure.count))
    };
    for status in STATUSES {
        metrics::gauge!("omniflow_operations", "status" => status).set(counted("operations", status));
    }
    for status in DELIVERY_STATUSES {
        metrics::gauge!("omniflow_deliveries", "status" => status).set(counted("deliveries", status));
    }
    for kind in DRIFTS {
        metrics::gauge!("omniflow_drifts_open", "kind" => kind).set(counted("drifts", kind));
    }
    for kind in KINDS {
        metrics::gauge!("omniflow_dead_letters", "kind" => kind).set(counted("dead_letters", kind));
    }
    // Kinds come from a table that other programs may write to: they share one series.
    let others = figures
        .iter()
        .filter(|figure| figure.what == "dead_letters" && !KINDS.contains(&figure.label.as_str()))
        .fold(0_i64, |sum, figure| sum.saturating_add(figure.count));
    metrics::gauge!("omniflow_dead_letters", "kind" => "other").set(to_float(others));
    for what in BOUGHT {
        let oldest = figures
            .iter()
            .find(|figure| figure.what == "paid_undelivered" && figure.label == what);
        metrics::gauge!("omniflow_paid_undelivered", "what" => what).set(counted("paid_undelivered", what));
        metrics::gauge!("omniflow_paid_undelivered_oldest_age_seconds", "what" => what)
            .set(oldest.map_or(0.0, |figure| figure.oldest_seconds));
    }
}

fn set_depths(depths: &[Depth]) {
    for queue in QUEUES {
        let here = || depths.iter().filter(|depth| depth.queue == queue);
        for state in STATES {
            let count = here().find(|depth| depth.state == state).map_or(0, |depth| depth.count);
            metrics::gauge!("omniflow_jobs_state", "queue" => queue, "state" => state).set(to_float(count));
        }
        let oldest = here().map(|depth| depth.due_seconds).fold(0.0, f64::max);
        metrics::gauge!("omniflow_job_oldest_due_age_seconds", "queue" => queue).set(oldest);
    }
}

/// Counts far below 2^53 are exact in a gauge.
fn to_float(count: i64) -> f64 {
    u32::try_from(count.max(0)).map_or(f64::from(u32::MAX), f64::from)
}
