//! A failed operation whose version a later push made the panel show: what it was for has come true, so it ends with all effects of a
//! success, and no operator has to look at it. The log tells it as a retry that was superseded at once.

use domain::{
    entitlement::{self, Entitlement},
    fulfillment::code::ENTITLEMENT_SUPERSEDED,
    order::{self, Order},
};
use serde::Serialize;
use store::{ExecuteError, StoreError, dead_letters, history, operations, superseded};
use uuid::Uuid;

use super::{Fault, Fulfillment, KIND, claim::entry, close::refused, streams};

/// At most so many a pass.
const BATCH: i64 = 200;

/// What a pass did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SupersededReport {
    /// Failed, and shown by the panel since.
    pub found: u64,
    /// Ended with success.
    pub closed: u64,
    /// Could not be ended now.
    pub failed: u64,
}

impl Fulfillment {
    /// Ends failed operations that need nothing any more.
    ///
    /// # Errors
    /// [`Fault`] when they cannot be listed.
    pub async fn close_superseded_failures(&self) -> Result<SupersededReport, Fault> {
        let found = {
            let mut conn = self.store.pool().acquire().await.map_err(StoreError::from)?;
            superseded::candidates_in(&mut conn, BATCH).await?
        };
        let mut report = SupersededReport::default();
        for operation_id in found {
            report.found = report.found.saturating_add(1);
            match self.close_superseded_failure(operation_id).await {
                Ok(closed) => report.closed = report.closed.saturating_add(u64::from(closed)),
                Err(fault) => {
                    tracing::warn!(%operation_id, code = fault.code(), "a failed operation that needs nothing was not closed");
                    report.failed = report.failed.saturating_add(1);
                }
            }
        }
        Ok(report)
    }

    /// `false` when it needs something after all, or somebody was faster.
    async fn close_superseded_failure(&self, operation_id: Uuid) -> Result<bool, Fault> {
        let operation = {
            let mut conn = self.store.pool().acquire().await.map_err(StoreError::from)?;
            operations::find_in(&mut conn, operation_id).await?
        };
        let Some(operation) = operation.filter(|operation| operation.status == "failed") else {
            return Ok(false);
        };
        let at = self.clock.now();
        let metadata = self.metadata(operation_id, &operation.correlation_id);
        let mut work = self
            .store
            .load(&streams(operation.entitlement_id, operation.order_id), metadata)
            .await?;
        let id = operation_id.into();
        for command in [
            entitlement::Command::RetryOperation { operation_id: id, at },
            entitlement::Command::CloseSuperseded { operation_id: id, at },
        ] {
            match work.execute::<Entitlement>(operation.entitlement_id, command) {
                Ok(_) => {}
                Err(ExecuteError::Rejected(entitlement::Error::NotSuperseded | entitlement::Error::NotRetryable)) => {
                    return Ok(false);
                }
                Err(error) => return Err(refused(error)),
            }
        }
        if let Some(order_id) = operation.order_id {
            work.execute::<Order>(order_id, order::Command::MarkFulfilled { at })
                .map_err(refused)?;
        }
        let mut open = work.begin().await?;
        if !superseded::close_in(open.conn(), operation_id, ENTITLEMENT_SUPERSEDED).await? {
            open.rollback().await;
            return Ok(false);
        }
        let closed = history::Entry {
            status: "succeeded",
            ..entry(&operation, "close", Some(ENTITLEMENT_SUPERSEDED))
        };
        history::append_in(open.conn(), closed).await?;
        dead_letters::resolve_in(open.conn(), KIND, &operation_id.to_string()).await?;
        match open.commit().await {
            Ok(_) => Ok(true),
            // An operator retried or cancelled it meanwhile.
            Err(StoreError::Conflict) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}
