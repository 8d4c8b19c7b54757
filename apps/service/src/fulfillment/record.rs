//! After a call that succeeded: the panel shows a version.

use domain::entitlement::RemoteStatus;
use std::time::Duration;
use store::leases::{self, Holding};
use tokio::time::Instant;

use super::{
    Claimed, Fault, Fulfillment, LATE_WRITE, Recorded, close::Case, ending::Ending, late_write::Wanted,
    persist::persist, streams,
};

/// What the panel showed after the push.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shown {
    /// The panel's key of the user.
    pub remote_user_id: i64,
    /// What the panel says of it.
    pub remote_status: RemoteStatus,
}

impl Fulfillment {
    /// Records that the panel shows what was claimed. Tried until `until`.
    ///
    /// # Errors
    /// [`Fault`] when nothing could be recorded: the lease then ends by itself, and the next run pushes once more.
    pub async fn record_shown(&self, claimed: &Claimed, shown: Shown, until: Instant) -> Result<Recorded, Fault> {
        let reconcile = self.ids.next();
        persist(until, || self.try_record(claimed, shown, reconcile)).await
    }

    async fn try_record(&self, claimed: &Claimed, shown: Shown, reconcile: uuid::Uuid) -> Result<Recorded, Fault> {
        let case = Case::from(claimed);
        let metadata = self.metadata(case.operation_id, &case.correlation_id);
        let uow = self
            .store
            .load(&streams(case.entitlement_id, case.order_id), metadata)
            .await?;
        let mut open = uow.begin().await?;
        match leases::release_in(open.conn(), case.subscription_id, claimed.token).await? {
            Holding::Released => {}
            Holding::ReleasedBefore => {
                open.rollback().await;
                return Ok(Recorded::Ended);
            }
            Holding::FencedOut => {
                open.rollback().await;
                return self.fenced_out(&case, reconcile).await;
            }
        }
        let ending = Ending::Applied {
            version: claimed.desired.version,
            remote_user_id: shown.remote_user_id,
            remote_status: shown.remote_status,
        };
        self.conclude(&mut open, &case, &ending).await?;
        if claimed.unanswered {
            self.open_reconcile_in(&mut open, &Wanted::after(&case, reconcile, LATE_WRITE))
                .await?;
        }
        open.commit().await?;
        Ok(Recorded::Ended)
    }

    /// What this run sent may have landed after the push of the one that took over.
    pub(super) async fn fenced_out(&self, case: &Case, reconcile: uuid::Uuid) -> Result<Recorded, Fault> {
        tracing::warn!(operation_id = %case.operation_id, "a run came back after another one had taken over");
        self.open_reconcile(&Wanted::after(case, reconcile, Duration::ZERO))
            .await?;
        Ok(Recorded::FencedOut)
    }
}
