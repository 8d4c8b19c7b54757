//! Closing unpaid orders whose window is over: the work of a pass.

use domain::{
    ids::OrderId,
    order::{self, Order},
    time::Timestamp,
};
use store::{ExecuteError, StreamId, read_model};

use crate::{Caller, Error, Refusal, Service, retry::retry_on_conflict};

/// What a pass did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExpireReport {
    /// Orders that expired now.
    pub expired: u32,
    /// Orders that were paid, cancelled or extended meanwhile.
    pub skipped: u32,
    /// Orders that could not be closed; the next pass finds them again.
    pub failed: u32,
}

impl Service {
    /// Expires at most `limit` orders, longest overdue first. One that fails does not stop the others.
    ///
    /// # Errors
    /// Only when the overdue ones cannot be listed.
    pub async fn expire_orders(&self, caller: &Caller, limit: i64) -> Result<ExpireReport, Error> {
        let at = self.clock.now();
        let mut report = ExpireReport::default();
        for order_id in read_model::orders_to_expire(self.store.pool(), at, limit).await? {
            match retry_on_conflict(&*self.ids, || self.expire_once(caller, order_id.into(), at)).await {
                Ok(true) => report.expired = report.expired.saturating_add(1),
                Ok(false) => report.skipped = report.skipped.saturating_add(1),
                Err(error) => {
                    report.failed = report.failed.saturating_add(1);
                    tracing::warn!(%order_id, code = error.code(), "an order was not expired");
                }
            }
        }
        Ok(report)
    }

    async fn expire_once(&self, caller: &Caller, order_id: OrderId, at: Timestamp) -> Result<bool, Error> {
        let stream = StreamId::of::<Order>(order_id);
        let mut work = self.store.load(&[stream], caller.metadata(at)).await?;
        let events = match work.execute::<Order>(order_id, order::Command::Expire { at }) {
            Ok(events) => events,
            Err(ExecuteError::Rejected(error)) => return Err(Refusal::of(409, &error).into()),
            Err(ExecuteError::Store(error)) => return Err(error.into()),
        };
        work.commit().await?;
        Ok(!events.is_empty())
    }
}
