//! Unpaid orders whose window is over.

use std::time::Duration;

use super::{PassParts, Running, caller, report};

pub(super) const NAME: &str = "commerce_maintenance";
pub(super) const INTERVAL: Duration = Duration::from_mins(1);
pub(super) const TIMEOUT: Duration = INTERVAL;

const BATCH: i64 = 500;

pub(super) fn run(parts: &PassParts) -> Running<'_> {
    Box::pin(async move {
        let expired = parts.service.expire_orders(&caller(&parts.service, NAME), BATCH).await;
        report(expired.map_err(|error| error.code().to_owned())?)
    })
}
