//! Work that is due and that nobody runs: its job was lost, thrown away or used up.

use std::time::Duration;

use queue::FulfillmentArgs;
use serde::Serialize;
use store::{StoreError, reconciles};

use super::{Fault, Fulfillment, job_metadata};

/// How long something must have been due.
const AGE: Duration = Duration::from_mins(1);

/// At most so many a pass.
const BATCH: i64 = 500;

/// What a pass did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReviveReport {
    /// Due and idle by their row.
    pub found: u64,
    /// Got a job.
    pub revived: u64,
    /// Had a live one after all.
    pub live: u64,
    /// Could not get one now.
    pub failed: u64,
}

impl Fulfillment {
    /// Inserts a job for every open operation that was due for more than a minute and has none, each in a statement of its own.
    ///
    /// # Errors
    /// [`Fault`] when the operations cannot be listed.
    pub async fn revive(&self) -> Result<ReviveReport, Fault> {
        let idle = {
            let mut conn = self.store.pool().acquire().await.map_err(StoreError::from)?;
            reconciles::idle_in(&mut conn, AGE, BATCH).await?
        };
        let mut report = ReviveReport::default();
        for operation in idle {
            report.found = report.found.saturating_add(1);
            let args = FulfillmentArgs {
                operation_id: operation.operation_id,
            };
            let count = match self.queue.insert(&args, &job_metadata(&operation.correlation_id)).await {
                Ok(inserted) if inserted.skipped_as_duplicate => &mut report.live,
                Ok(_) => &mut report.revived,
                Err(error) => {
                    tracing::warn!(operation_id = %operation.operation_id, code = error.code(), "an operation was not revived");
                    &mut report.failed
                }
            };
            *count = count.saturating_add(1);
        }
        Ok(report)
    }
}
