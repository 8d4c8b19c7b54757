//! After a call that did not succeed.

use std::time::Duration;

use domain::fulfillment::{
    FailureClass, Next, after_failure,
    code::{INTERRUPTED, OPERATOR_CANCELLED},
};
use store::{
    SideRows, history,
    leases::{self, Holding},
    operations::{self, Again},
};
use tokio::time::Instant;
use uuid::Uuid;

use super::{
    Claimed, Fault, Fulfillment,
    close::{Case, notice_in},
    ending::Ending,
    persist::persist,
    streams,
};

/// How a run failed at the panel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallFailure {
    /// How it counts.
    pub class: FailureClass,
    /// Stable code.
    pub code: String,
    /// Something that changes the panel was sent in this run.
    pub sent: bool,
    /// Something was sent whose answer did not come.
    pub unanswered: bool,
}

/// What the job does after a recorded failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Handed {
    /// Again after this time; it counted.
    Retry(Duration),
    /// Again after this time; it did not count.
    Snooze(Duration),
    /// The operation has ended, and the job with it.
    Ended,
    /// Another run took over meanwhile.
    FencedOut,
}

enum Attempted {
    Handed(Handed),
    /// The operation ends with this.
    Ends(Ending),
}

impl Fulfillment {
    /// Records a failed run. Tried until `until`.
    ///
    /// # Errors
    /// [`Fault`] when nothing could be recorded: the lease then ends by itself.
    pub async fn record_failure(
        &self,
        claimed: &Claimed,
        failure: &CallFailure,
        until: Instant,
    ) -> Result<Handed, Fault> {
        let reconcile = self.ids.next();
        persist(until, || self.try_record_failure(claimed, failure, reconcile)).await
    }

    /// Hands back a run that the process cut off to stop: due at once, at no cost.
    ///
    /// # Errors
    /// As [`Self::record_failure`].
    pub async fn record_interrupted(&self, claimed: &Claimed, sent: bool, until: Instant) -> Result<Handed, Fault> {
        let again = Again {
            code: INTERRUPTED,
            delay: Duration::ZERO,
            give_back: true,
            unanswered: sent,
        };
        self.give_back(claimed, again, sent, until).await
    }

    /// Puts back a run that did not count.
    pub(super) async fn give_back(
        &self,
        claimed: &Claimed,
        again: Again<'_>,
        sent: bool,
        until: Instant,
    ) -> Result<Handed, Fault> {
        let given_back = CallFailure {
            class: FailureClass::Passing,
            code: again.code.to_owned(),
            sent,
            unanswered: again.unanswered,
        };
        let reconcile = self.ids.next();
        persist(until, || async {
            match self.put_back(claimed, again, Told::Nobody, sent, reconcile).await? {
                Attempted::Handed(handed) => Ok(handed),
                Attempted::Ends(ending) => self.end_failed(claimed, &given_back, &ending, reconcile).await,
            }
        })
        .await
    }

    async fn try_record_failure(
        &self,
        claimed: &Claimed,
        failure: &CallFailure,
        reconcile: Uuid,
    ) -> Result<Handed, Fault> {
        let code = failure.code.as_str();
        let attempted = match after_failure(failure.class, claimed.attempt) {
            Next::Retry { delay, counted, notice } => {
                let again = Again {
                    code,
                    delay,
                    give_back: !counted,
                    unanswered: failure.unanswered,
                };
                let told = if notice { Told::Operators } else { Told::Nobody };
                self.put_back(claimed, again, told, failure.sent, reconcile).await?
            }
            Next::GiveUp => Attempted::Ends(Ending::Failed { code: code.to_owned() }),
        };
        match attempted {
            Attempted::Handed(handed) => Ok(handed),
            Attempted::Ends(ending) => self.end_failed(claimed, failure, &ending, reconcile).await,
        }
    }

    async fn put_back(
        &self,
        claimed: &Claimed,
        again: Again<'_>,
        told: Told,
        sent: bool,
        reconcile: Uuid,
    ) -> Result<Attempted, Fault> {
        let case = Case::from(claimed);
        let handed = if again.give_back {
            Handed::Snooze(again.delay)
        } else {
            Handed::Retry(again.delay)
        };
        let mut rows = SideRows::begin(self.store.pool()).await?;
        match leases::release_in(rows.conn(), case.subscription_id, claimed.token).await? {
            Holding::Released => {}
            Holding::ReleasedBefore => return Ok(Attempted::Handed(handed)),
            Holding::FencedOut => {
                rows.rollback().await;
                if sent {
                    self.fenced_out(&case, reconcile).await?;
                }
                return Ok(Attempted::Handed(Handed::FencedOut));
            }
        }
        let row = operations::lock_in(rows.conn(), case.operation_id).await?;
        if row.is_some_and(|row| row.cancel_requested) && !sent {
            rows.rollback().await;
            return Ok(Attempted::Ends(Ending::Cancelled {
                code: OPERATOR_CANCELLED,
            }));
        }
        operations::again_in(rows.conn(), case.operation_id, again).await?;
        let kind = if again.give_back { "hold" } else { "attempt" };
        history::append_in(rows.conn(), case.entry(kind, "retrying", Some(again.code))).await?;
        if told == Told::Operators {
            notice_in(rows.conn(), &case, again.code, "retrying").await?;
        }
        rows.commit().await?;
        Ok(Attempted::Handed(handed))
    }

    async fn end_failed(
        &self,
        claimed: &Claimed,
        failure: &CallFailure,
        ending: &Ending,
        reconcile: Uuid,
    ) -> Result<Handed, Fault> {
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
                return Ok(Handed::Ended);
            }
            Holding::FencedOut => {
                open.rollback().await;
                if failure.sent {
                    self.fenced_out(&case, reconcile).await?;
                }
                return Ok(Handed::FencedOut);
            }
        }
        self.conclude(&mut open, &case, ending).await?;
        if failure.unanswered || claimed.unanswered {
            let wanted = super::late_write::Wanted::after(&case, reconcile, super::LATE_WRITE);
            self.open_reconcile_in(&mut open, &wanted).await?;
        }
        open.commit().await?;
        Ok(Handed::Ended)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Told {
    Nobody,
    Operators,
}
