//! Jobs that ended without success are recorded before the queue forgets them, and failed operations that a later push made good are closed.

use std::time::Duration;

use serde::Serialize;
use service::DeadLetterReport;

use super::{PassParts, Running, report};

pub(super) const NAME: &str = "dead_letter_sweep";
pub(super) const INTERVAL: Duration = Duration::from_mins(1);
pub(super) const TIMEOUT: Duration = INTERVAL;

/// Flat: each figure is a step of the metrics.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    #[serde(flatten)]
    jobs: DeadLetterReport,
    superseded_closed: u64,
    superseded_failed: u64,
}

pub(super) fn run(parts: &PassParts) -> Running<'_> {
    Box::pin(async move {
        // Neither step stands in the other's way.
        let superseded = parts.fulfillment.close_superseded_failures().await;
        let jobs = parts
            .service
            .sweep_dead_letters()
            .await
            .map_err(|error| error.code().to_owned())?;
        let superseded = superseded.map_err(|fault| fault.code().to_owned())?;
        report(Report {
            jobs,
            superseded_closed: superseded.closed,
            superseded_failed: superseded.failed,
        })
    })
}
