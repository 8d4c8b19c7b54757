//! Payments that are open are asked for.

use std::time::Duration;

use super::{PassParts, Running, caller, report};

pub(super) const NAME: &str = "payment_reconcile";
pub(super) const INTERVAL: Duration = Duration::from_mins(1);
pub(super) const TIMEOUT: Duration = INTERVAL;

const BATCH: i64 = 100;

pub(super) fn run(parts: &PassParts) -> Running<'_> {
    Box::pin(async move {
        let asked = parts
            .service
            .reconcile_due_payments(&caller(&parts.service, NAME), BATCH)
            .await;
        report(asked.map_err(|error| error.code().to_owned())?)
    })
}
