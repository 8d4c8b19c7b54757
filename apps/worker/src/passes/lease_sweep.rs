//! Leases that ended without an outcome and that nobody will take over.

use std::time::Duration;

use super::{PassParts, Running, report};

pub(super) const NAME: &str = "lease_sweep";
pub(super) const INTERVAL: Duration = Duration::from_mins(1);
pub(super) const TIMEOUT: Duration = INTERVAL;

pub(super) fn run(parts: &PassParts) -> Running<'_> {
    Box::pin(async move {
        report(
            parts
                .fulfillment
                .sweep_leases()
                .await
                .map_err(|fault| fault.code().to_owned())?,
        )
    })
}
