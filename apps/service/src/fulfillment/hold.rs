//! Waiting for a window of maintenance to close. A hold costs no attempt, however long the window lasts, and is one row of the history.
//!
//! Every operation that would write to the panel is held where it is claimed. A `reconcile` reads first, so that drift is seen while the
//! window is open too, and is held after its read ([`Fulfillment::hold_after_read`]). What ends without a call ends: a cancelled
//! operation, one that is superseded.

use std::time::Duration;

use domain::{entitlement::OperationKind, maintenance::MAINTENANCE_ACTIVE};
use store::{
    SideRows, history, leases,
    operations::{self, Again, Operation},
};
use tokio::time::Instant;
use uuid::Uuid;

use super::{Claim, Claimed, Fault, Fulfillment, Handed, claim::entry};
use crate::maintenance::Known;

/// How long an operation is held before it looks again (the seeds' minute).
const HOLD: Duration = Duration::from_mins(1);

/// Wait when the database did not say whether a window is open: nothing is known, so nothing is noted.
const UNKNOWN: Duration = Duration::from_secs(2);

impl Fulfillment {
    /// Whether a run of this kind may be claimed. A `reconcile` always may: its gate stands after its read.
    pub(super) async fn gate_for(&self, kind: &OperationKind) -> Known {
        if *kind == OperationKind::Reconcile {
            return Known::Shut;
        }
        self.gate.look().await
    }

    /// To be asked by a `reconcile` that has read the panel and is about to write to it: `Some` when it was put back to wait instead.
    ///
    /// # Errors
    /// [`Fault`] when the hold could not be recorded by `until`: the lease then ends by itself.
    pub async fn hold_after_read(&self, claimed: &Claimed, until: Instant) -> Result<Option<Handed>, Fault> {
        if claimed.kind != OperationKind::Reconcile || self.gate.look().await != Known::Open {
            return Ok(None);
        }
        let again = Again {
            code: MAINTENANCE_ACTIVE,
            delay: HOLD,
            give_back: true,
            unanswered: false,
        };
        self.give_back(claimed, again, false, until).await.map(Some)
    }
}

/// Puts a claimed lease back together with the note of the hold. A request that an earlier holder of the lease may have left in flight is
/// remembered: the next run pushes and then converges once more. `None` when the operation has ended meanwhile.
pub(super) async fn hold_in(
    mut rows: SideRows,
    operation: &Operation,
    known: Known,
    token: Uuid,
    taken_over: bool,
) -> Result<Option<Claim>, Fault> {
    if known == Known::Unknown {
        rows.rollback().await;
        return Ok(Some(Claim::Wait(UNKNOWN)));
    }
    let again = Again {
        code: MAINTENANCE_ACTIVE,
        delay: HOLD,
        give_back: false,
        unanswered: taken_over,
    };
    leases::release_in(rows.conn(), operation.subscription_id, token).await?;
    if !operations::again_in(rows.conn(), operation.operation_id, again).await? {
        rows.rollback().await;
        return Ok(None);
    }
    let held = history::Entry {
        status: "retrying",
        ..entry(operation, "hold", Some(MAINTENANCE_ACTIVE))
    };
    history::append_in(rows.conn(), held).await?;
    fail::fail_point!("fulfillment.before_hold");
    rows.commit().await?;
    fail::fail_point!("fulfillment.after_hold");
    let operation = match OperationKind::from(operation.operation.clone()) {
        // Text of a later version has no place in a label.
        OperationKind::Unknown(_) => "unknown".to_owned(),
        kind => kind.as_str().to_owned(),
    };
    metrics::counter!("omniflow_fulfillment_results_total", "operation" => operation, "result" => "held").increment(1);
    Ok(Some(Claim::Wait(HOLD)))
}
