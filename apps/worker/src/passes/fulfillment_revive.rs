//! Operations that are due and whose job went missing get one.

use std::time::Duration;

use super::{PassParts, Running, report};

pub(super) const NAME: &str = "fulfillment_revive";
pub(super) const INTERVAL: Duration = Duration::from_mins(5);
pub(super) const TIMEOUT: Duration = INTERVAL;

pub(super) fn run(parts: &PassParts) -> Running<'_> {
    Box::pin(async move {
        report(
            parts
                .fulfillment
                .revive()
                .await
                .map_err(|fault| fault.code().to_owned())?,
        )
    })
}
