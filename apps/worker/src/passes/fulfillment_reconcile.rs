//! Living entitlements are compared with the panel, a few hundred at a time.

use std::time::Duration;

use super::{PassParts, Running, report};

pub(super) const NAME: &str = "fulfillment_reconcile";
pub(super) const INTERVAL: Duration = Duration::from_mins(15);
pub(super) const TIMEOUT: Duration = INTERVAL;

const BATCH: i64 = 500;

pub(super) fn run(parts: &PassParts) -> Running<'_> {
    Box::pin(async move {
        let compared = parts.fulfillment.reconcile_due(BATCH).await;
        report(compared.map_err(|fault| fault.code().to_owned())?)
    })
}
