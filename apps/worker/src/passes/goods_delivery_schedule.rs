//! Deliveries that are due and whose job went missing get one.

use std::time::Duration;

use super::{PassParts, Running, report};

pub(super) const NAME: &str = "goods_delivery_schedule";
pub(super) const INTERVAL: Duration = Duration::from_secs(30);
pub(super) const TIMEOUT: Duration = INTERVAL;

pub(super) fn run(parts: &PassParts) -> Running<'_> {
    Box::pin(async move {
        if !parts.service.goods_enabled() {
            return report(());
        }
        report(
            parts
                .deliveries
                .schedule()
                .await
                .map_err(|fault| fault.code().to_owned())?,
        )
    })
}
