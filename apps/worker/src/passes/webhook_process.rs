//! Stored webhook calls that could not be processed at once.

use std::time::Duration;

use super::{PassParts, Running, caller, report};

pub(super) const NAME: &str = "webhook_process";
pub(super) const INTERVAL: Duration = Duration::from_secs(30);
pub(super) const TIMEOUT: Duration = INTERVAL;

const BATCH: i64 = 200;

pub(super) fn run(parts: &PassParts) -> Running<'_> {
    Box::pin(async move {
        let processed = parts
            .service
            .process_due_webhooks(&caller(&parts.service, NAME), BATCH)
            .await;
        report(processed.map_err(|error| error.code().to_owned())?)
    })
}
