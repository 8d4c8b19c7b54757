//! Leases that ended without an outcome and that no run will take over.

use std::time::Duration;

use serde::Serialize;
use store::{
    StoreError,
    leases::{self, DeadLease},
    operations,
};

use super::{Fault, Fulfillment, late_write::Wanted};

/// How long a lease must have ended: its operation's own next run is faster.
const AGE: Duration = Duration::from_mins(1);

/// How long released leases are kept.
const KEEP: Duration = Duration::from_hours(24);

const BATCH: i64 = 200;

/// What a pass did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SweepReport {
    /// Ended without an outcome.
    pub found: u64,
    /// Led to a `reconcile`.
    pub reconciled: u64,
    /// Could not be handled now.
    pub failed: u64,
    /// Old ones removed.
    pub removed: u64,
}

impl Fulfillment {
    /// Converges the panel once more where a run vanished in the middle and its operation ended otherwise, and removes old leases.
    ///
    /// # Errors
    /// [`Fault`] when the leases cannot be listed.
    pub async fn sweep_leases(&self) -> Result<SweepReport, Fault> {
        let dead = {
            let mut conn = self.store.pool().acquire().await.map_err(StoreError::from)?;
            leases::orphaned_in(&mut conn, AGE, BATCH).await?
        };
        let mut report = SweepReport::default();
        for lease in dead {
            report.found = report.found.saturating_add(1);
            match self.sweep_one(lease).await {
                Ok(true) => report.reconciled = report.reconciled.saturating_add(1),
                Ok(false) => {}
                Err(fault) => {
                    tracing::warn!(subscription_id = %lease.subscription_id, code = fault.code(), "a lease was not swept");
                    report.failed = report.failed.saturating_add(1);
                }
            }
        }
        let mut conn = self.store.pool().acquire().await.map_err(StoreError::from)?;
        report.removed = leases::prune_in(&mut conn, KEEP, BATCH).await?;
        Ok(report)
    }

    async fn sweep_one(&self, lease: DeadLease) -> Result<bool, Fault> {
        let operation = {
            let mut conn = self.store.pool().acquire().await.map_err(StoreError::from)?;
            operations::find_in(&mut conn, lease.operation_id).await?
        };
        let mut opened = false;
        if let Some(operation) = operation {
            let wanted = Wanted {
                operation_id: self.ids.next(),
                entitlement_id: operation.entitlement_id,
                subscription_id: operation.subscription_id,
                correlation_id: operation.correlation_id,
                delay: Duration::ZERO,
            };
            opened = self.open_reconcile(&wanted).await?;
        }
        let mut rows = store::SideRows::begin(self.store.pool()).await?;
        leases::release_in(rows.conn(), lease.subscription_id, lease.token).await?;
        rows.commit().await?;
        Ok(opened)
    }
}
