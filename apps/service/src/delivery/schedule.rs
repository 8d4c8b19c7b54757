//! Deliveries that are due and whose job went missing. The job itself snoozes to its due time; this only repairs.

use queue::GoodsDeliveryArgs;
use serde::Serialize;
use store::{StoreError, deliveries};

use super::{Deliveries, Fault};

const BATCH: i64 = 200;

/// What a pass did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ScheduleReport {
    /// Due by their row.
    pub due: u64,
    /// Got a job.
    pub scheduled: u64,
    /// Had a live one.
    pub live: u64,
    /// Could not get one now.
    pub failed: u64,
}

impl Deliveries {
    /// Inserts a job for every due delivery that has none, each in a statement of its own.
    ///
    /// # Errors
    /// [`Fault`] when the deliveries cannot be listed.
    pub async fn schedule(&self) -> Result<ScheduleReport, Fault> {
        let due = {
            let mut conn = self.store.pool().acquire().await.map_err(StoreError::from)?;
            deliveries::due_in(&mut conn, BATCH).await?
        };
        let mut report = ScheduleReport::default();
        for (order_id, correlation_id) in due {
            report.due = report.due.saturating_add(1);
            let metadata = crate::fulfillment::job_metadata(&correlation_id);
            let count = match self.queue.insert(&GoodsDeliveryArgs { order_id }, &metadata).await {
                Ok(inserted) if inserted.skipped_as_duplicate => &mut report.live,
                Ok(_) => &mut report.scheduled,
                Err(error) => {
                    tracing::warn!(%order_id, code = error.code(), "a delivery was not scheduled");
                    &mut report.failed
                }
            };
            *count = count.saturating_add(1);
        }
        Ok(report)
    }
}
