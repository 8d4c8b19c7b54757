//! A look at the panel before a `reconcile` pushes: what differs is recorded first, so that it is told even if the push never comes.

use domain::{
    entitlement::{self, Access, Entitlement, Observed, RemoteStatus, drift::compare},
    time::Timestamp,
};
use ports::panel::RemoteUser;
use serde_json::{Value, json};
use store::{
    OpenUnitOfWork, checks, drifts,
    leases::{self, Holding},
};
use tokio::time::Instant;

use super::{
    Claimed, Fault, Fulfillment,
    close::{Case, refused},
    ending::Ending,
    persist::persist,
    streams,
};

/// What the panel was seen to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Look {
    /// The subscription's user; `None` when the panel has none.
    pub user: Option<RemoteUser>,
    /// When it was asked for: what happened before is in it.
    pub taken_at: Timestamp,
}

/// What a recorded look leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Looked {
    /// The panel has to be converged.
    Push {
        /// The user is shut although it must be open.
        reopen: bool,
    },
    /// The panel agrees: the operation has ended, and the job with it.
    Agreed,
    /// Another run took over meanwhile: nothing of this one was recorded.
    FencedOut,
}

impl Fulfillment {
    /// Records what a `reconcile` saw. Where nothing differs it ends there, without a word in the log. Tried until `until`.
    ///
    /// # Errors
    /// [`Fault`] when nothing could be recorded: the lease then ends by itself, and the next run looks again.
    pub async fn record_look(&self, claimed: &Claimed, look: &Look, until: Instant) -> Result<Looked, Fault> {
        persist(until, || self.try_record_look(claimed, look)).await
    }

    async fn try_record_look(&self, claimed: &Claimed, look: &Look) -> Result<Looked, Fault> {
        let now = self.clock.now();
        let observed = look.user.as_ref().map(observed);
        let is_gone = observed.is_none() && claimed.desired.expire_at <= now;
        let differs = !compare(&claimed.desired, observed.as_ref(), now).is_empty();
        let brings_news = claimed.desired.version > claimed.applied_version;
        let case = Case::from(claimed);
        let metadata = self.metadata(case.operation_id, &case.correlation_id);
        let uow = self.store.load(&streams(case.entitlement_id, None), metadata).await?;
        let open = uow.begin().await?;
        let ending = match &look.user {
            // Nobody makes a user whose right is over.
            None if is_gone => Some(Ending::Gone),
            Some(user) if !differs && !brings_news && !claimed.unanswered => Some(Ending::Applied {
                version: claimed.desired.version,
                remote_user_id: user.id,
                remote_status: user.status,
            }),
            None | Some(_) => None,
        };
        match ending {
            Some(ending) => self.agree(open, claimed, &case, look, &ending).await,
            None => self.differ(open, claimed, &case, (look, observed), now).await,
        }
    }

    async fn agree(
        &self,
        mut open: OpenUnitOfWork,
        claimed: &Claimed,
        case: &Case,
        look: &Look,
        ending: &Ending,
    ) -> Result<Looked, Fault> {
        match leases::release_in(open.conn(), case.subscription_id, claimed.token).await? {
            Holding::Released => {}
            Holding::ReleasedBefore => {
                open.rollback().await;
                return Ok(Looked::Agreed);
            }
            // Nothing was sent, so nothing can land late.
            Holding::FencedOut => {
                open.rollback().await;
                return Ok(Looked::FencedOut);
            }
        }
        self.conclude(&mut open, case, ending).await?;
        observe_in(&mut open, case, look).await?;
        open.commit().await?;
        Ok(Looked::Agreed)
    }

    async fn differ(
        &self,
        mut open: OpenUnitOfWork,
        claimed: &Claimed,
        case: &Case,
        (look, observed): (&Look, Option<Observed>),
        now: Timestamp,
    ) -> Result<Looked, Fault> {
        if !leases::held_in(open.conn(), case.subscription_id, claimed.token).await? {
            open.rollback().await;
            return Ok(Looked::FencedOut);
        }
        let command = entitlement::Command::RecordDrift {
            operation_id: Some(claimed.operation_id),
            version: claimed.desired.version,
            observed,
            at: now,
        };
        let events = open
            .execute::<Entitlement>(case.entitlement_id, command)
            .map_err(refused)?;
        drifts::follow_in(open.conn(), (case.entitlement_id, case.subscription_id), &events).await?;
        observe_in(&mut open, case, look).await?;
        open.commit().await?;
        let must_be_open = claimed.desired.access == Access::Open;
        let reopen = must_be_open
            && look
                .user
                .as_ref()
                .is_some_and(|user| matches!(user.status, RemoteStatus::Disabled | RemoteStatus::Expired));
        Ok(Looked::Push { reopen })
    }
}

async fn observe_in(open: &mut OpenUnitOfWork, case: &Case, look: &Look) -> Result<(), Fault> {
    let shown = look.user.as_ref().map(shown);
    Ok(checks::observed_in(open.conn(), case.checked(), shown.as_ref(), look.taken_at).await?)
}

fn observed(user: &RemoteUser) -> Observed {
    Observed {
        expire_at: user.expire_at,
        traffic_limit_bytes: user.traffic_limit_bytes,
        device_limit: user.device_limit,
        squads: user.squads.clone(),
        status: user.status,
    }
}

/// As operators see it. No name, no link.
fn shown(user: &RemoteUser) -> Value {
    json!({
        "status": user.status,
        "expireAt": user.expire_at,
        "trafficLimitBytes": user.traffic_limit_bytes,
        "usedTrafficBytes": user.used_traffic_bytes,
        "deviceLimit": user.device_limit,
        "squads": user.squads,
    })
}
