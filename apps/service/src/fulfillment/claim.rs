//! Before the call: may this run write to the panel, and what?

use std::time::Duration;

use domain::{
    entitlement::{self, DesiredState, Entitlement, OperationKind, Outcome},
    fulfillment::code::{INVALID_DESIRED_STATE, OPERATOR_CANCELLED, UNSUPPORTED_OPERATION},
    ids::OperationId,
    time::Timestamp,
};
use store::{
    Folded, SideRows, StoreError, history, leases,
    leases::Lease,
    operations::{self, Operation},
};
use uuid::Uuid;

use super::{
    Claim, Claimed, Fault, Fulfillment, JobRef, LEASE, close::refused, ending::Ending, hold::hold_in,
    may_be_superseded, streams,
};
use crate::maintenance::Known;

/// A claim that meets changes is begun anew this often.
const TRIES: u32 = 5;

/// Longest wait for a lease that somebody else holds.
const LEASE_WAIT: Duration = Duration::from_secs(2);

/// Wait when the change that an operation is for is not due although the operation is: another clock is ahead.
const NOTHING_DUE: Duration = Duration::from_mins(1);

/// What the row and the stream say together.
enum Plan {
    Over,
    Wait(Duration),
    Close(Ending),
    /// The moment of a planned change has come.
    TakeEffect,
    /// The stream cannot be read, so the end cannot be one of its events.
    CloseUnread,
    Push(Box<Target>),
}

struct Target {
    folded: Folded<Entitlement>,
    desired: DesiredState,
    kind: OperationKind,
    superseded: bool,
    opened_at: Timestamp,
}

impl Fulfillment {
    /// Claims an operation for one run.
    ///
    /// # Errors
    /// [`Fault`] when the store fails. Nothing is held then.
    pub async fn claim(&self, job: JobRef, operation_id: Uuid) -> Result<Claim, Fault> {
        for _ in 0..TRIES {
            match self.try_claim(job, operation_id).await {
                Ok(Some(claim)) => return Ok(claim),
                Ok(None) => {}
                Err(Fault::Store(error)) if error.is_rerunnable() => {}
                Err(fault) => return Err(fault),
            }
        }
        Ok(Claim::Wait(Duration::from_millis(250)))
    }

    /// `None` when something moved meanwhile.
    async fn try_claim(&self, job: JobRef, operation_id: Uuid) -> Result<Option<Claim>, Fault> {
        let Some(operation) = self.find(operation_id).await? else {
            self.close_unknown(job, operation_id).await?;
            return Ok(Some(Claim::Over));
        };
        match self.plan(&operation).await? {
            Plan::Over => Ok(Some(Claim::Over)),
            Plan::Wait(span) => {
                self.note_wait(&operation).await?;
                Ok(Some(Claim::Wait(span)))
            }
            Plan::Close(ending) => Ok(Some(self.close(job, &operation, ending).await?)),
            Plan::TakeEffect => {
                self.take_effect(&operation).await?;
                Ok(None)
            }
            Plan::CloseUnread => {
                self.close_unread(job, &operation).await?;
                Ok(Some(Claim::Over))
            }
            Plan::Push(target) => self.start(job, &operation, *target).await,
        }
    }

    async fn find(&self, operation_id: Uuid) -> Result<Option<Operation>, Fault> {
        let mut conn = self.store.pool().acquire().await.map_err(StoreError::from)?;
        Ok(operations::find_in(&mut conn, operation_id).await?)
    }

    async fn plan(&self, operation: &Operation) -> Result<Plan, Fault> {
        let now = self.clock.now();
        if operation.is_terminal() {
            return Ok(Plan::Over);
        }
        if operation.cancel_requested {
            return Ok(Plan::Close(Ending::Cancelled {
                code: OPERATOR_CANCELLED,
            }));
        }
        let kind = OperationKind::from(operation.operation.clone());
        if matches!(kind, OperationKind::Unknown(_)) {
            return Ok(Plan::Close(Ending::Failed {
                code: UNSUPPORTED_OPERATION.to_owned(),
            }));
        }
        if let Some(ahead) = operation
            .effective_at
            .and_then(|at| (at - now).to_std().ok())
            .filter(|ahead| !ahead.is_zero())
        {
            return Ok(Plan::Wait(ahead));
        }
        if let Some(wait) = operation.wait() {
            return Ok(Plan::Wait(wait));
        }
        let folded = match self.store.fold::<Entitlement>(operation.entitlement_id).await {
            Ok(folded) => folded,
            Err(StoreError::Corrupt { .. }) => return Ok(Plan::CloseUnread),
            Err(error) => return Err(error.into()),
        };
        Ok(plan_push(operation, kind, folded, now))
    }

    /// Gives every planned change whose moment has come its version: from then on each run pushes it, whichever comes first.
    async fn take_effect(&self, operation: &Operation) -> Result<(), Fault> {
        let metadata = self.metadata(operation.operation_id, &operation.correlation_id);
        let mut work = self
            .store
            .load(&streams(operation.entitlement_id, None), metadata)
            .await?;
        let command = entitlement::Command::TakeEffect { at: self.clock.now() };
        work.execute::<Entitlement>(operation.entitlement_id, command)
            .map_err(refused)?;
        work.commit().await?;
        Ok(())
    }

    /// A wait is one row of the history, however long it is waited; a scheduled change is due when it is to be applied.
    async fn note_wait(&self, operation: &Operation) -> Result<(), Fault> {
        let mut rows = SideRows::begin(self.store.pool()).await?;
        if let Some(effective_at) = operation.effective_at {
            operations::wait_until_in(rows.conn(), operation.operation_id, effective_at).await?;
        }
        history::append_in(rows.conn(), entry(operation, "snooze", None)).await?;
        Ok(rows.commit().await?)
    }

    async fn start(&self, job: JobRef, operation: &Operation, target: Target) -> Result<Option<Claim>, Fault> {
        let token = self.ids.next();
        let known = self.gate_for(&target.kind).await;
        let mut rows = SideRows::begin(self.store.pool()).await?;
        let lease = leases::take_in(
            rows.conn(),
            operation.subscription_id,
            token,
            operation.operation_id,
            LEASE,
        )
        .await?;
        let (taken_over, previous) = match lease {
            Lease::Refused { rest } => {
                history::append_in(rows.conn(), entry(operation, "refusal", Some("lease_held"))).await?;
                rows.commit().await?;
                return Ok(Some(Claim::Wait(lease_wait(rest))));
            }
            Lease::Taken {
                taken_over,
                previous_operation_id,
            } => (taken_over, previous_operation_id),
        };
        let own_request = taken_over && previous == Some(operation.operation_id);
        if target.superseded && !operation.unanswered && !own_request {
            rows.rollback().await;
            return Ok(Some(self.close(job, operation, Ending::Superseded).await?));
        }
        if let Some(previous) = previous.filter(|_| taken_over) {
            operations::mark_unanswered_in(rows.conn(), previous).await?;
        }
        if known != Known::Shut {
            return hold_in(rows, operation, known, token, taken_over).await;
        }
        let started = operations::start_in(
            rows.conn(),
            operation.operation_id,
            operation.entitlement_id,
            target.folded.sequence,
        )
        .await?;
        let Some(attempt) = started else {
            rows.rollback().await;
            return Ok(None);
        };
        rows.commit().await?;
        let unanswered = operation.unanswered || taken_over;
        Ok(Some(Claim::Run(Box::new(claimed(
            job,
            operation,
            target,
            &Begun {
                attempt,
                token,
                unanswered,
            },
        )))))
    }
}

fn plan_push(operation: &Operation, kind: OperationKind, folded: Folded<Entitlement>, now: Timestamp) -> Plan {
    let id = OperationId::new(operation.operation_id);
    let known = folded.state.operations.get(&id);
    if known.is_none() && !(kind == OperationKind::Reconcile && folded.state.is_granted()) {
        // The row says more than the stream does: what it belongs to cannot be told. Only a reconcile may be unknown there: it enters the
        // stream with something to tell.
        return Plan::CloseUnread;
    }
    // The stream's own: a planned change gets its version late.
    let (version, opened_at) = known.map_or((operation.version, operation.created_at), |known| {
        (known.version, known.opened_at)
    });
    match known.map_or(Outcome::Open, |known| known.outcome) {
        Outcome::Open => {}
        Outcome::Succeeded => return Plan::Close(Ending::Superseded),
        Outcome::Failed => {
            return Plan::Close(Ending::Failed {
                code: INVALID_DESIRED_STATE.to_owned(),
            });
        }
        Outcome::Cancelled => {
            return Plan::Close(Ending::Cancelled {
                code: OPERATOR_CANCELLED,
            });
        }
    }
    if folded.state.planned.iter().any(|one| one.effective_at <= now) {
        return Plan::TakeEffect;
    }
    let Some(desired) = folded.state.desired_at(now) else {
        return Plan::Wait(NOTHING_DUE);
    };
    if !desired.is_valid() {
        return Plan::Close(Ending::Failed {
            code: INVALID_DESIRED_STATE.to_owned(),
        });
    }
    if desired.version < version && kind != OperationKind::Reconcile {
        return Plan::Wait(NOTHING_DUE);
    }
    let superseded = may_be_superseded(version, &kind, folded.state.applied_version);
    Plan::Push(Box::new(Target {
        folded,
        desired,
        kind,
        superseded,
        opened_at,
    }))
}

struct Begun {
    attempt: i32,
    token: Uuid,
    unanswered: bool,
}

fn claimed(job: JobRef, operation: &Operation, target: Target, begun: &Begun) -> Claimed {
    let Entitlement {
        applied_version,
        remote_user_id,
        ..
    } = target.folded.state;
    Claimed {
        job,
        operation_id: operation.operation_id.into(),
        entitlement_id: operation.entitlement_id.into(),
        subscription_id: operation.subscription_id.into(),
        order_id: operation.order_id.map(Into::into),
        kind: target.kind,
        correlation_id: operation.correlation_id.clone(),
        attempt: begun.attempt,
        opened_at: target.opened_at,
        desired: target.desired,
        applied_version,
        remote_user_id,
        unanswered: begun.unanswered,
        token: begun.token,
    }
}

fn lease_wait(rest: Duration) -> Duration {
    rest.clamp(Duration::from_millis(50), LEASE_WAIT)
}

pub(super) fn entry<'a>(operation: &'a Operation, kind: &'a str, code: Option<&'a str>) -> history::Entry<'a> {
    history::Entry {
        operation_id: operation.operation_id,
        kind,
        status: &operation.status,
        attempt: operation.attempt_count,
        error_code: code,
        correlation_id: &operation.correlation_id,
    }
}
