//! The end of an operation: its events, its row, its history, what operators are told, and its job, in one commit.

use chrono::TimeDelta;
use domain::{
    entitlement::{self, Entitlement, OperationKind},
    fulfillment::code::{ENTITLEMENT_SUPERSEDED, INVALID_DESIRED_STATE, UNSUPPORTED_OPERATION},
    order::{self, Order},
    time::Timestamp,
};
use queue::{Finish, finish_in};
use serde_json::json;
use store::{
    ExecuteError, OpenUnitOfWork, SideRows,
    checks::{self, Checked},
    dead_letters,
    dead_letters::NewDeadLetter,
    drifts, history, leases,
    leases::Lease,
    notices,
    operations::{self, End, Operation},
};
use uuid::Uuid;

use super::{
    Claim, Claimed, Fault, Fulfillment, JobRef, KIND, LATE_WRITE, LEASE,
    ending::{Ending, command, reconcile_command},
    late_write, streams,
};

/// Topic of what operators are told about failed provisioning.
pub(super) const NOTICE: &str = "fulfillment_failure";

/// How long nobody compares again after a `reconcile` gave up: somebody has to look at it first, and every further one would say the same.
const PUT_OFF: TimeDelta = TimeDelta::hours(6);

/// The operation that ends, on behalf of which job.
#[derive(Clone, Debug)]
pub(super) struct Case {
    pub(super) job: JobRef,
    pub(super) operation_id: Uuid,
    pub(super) entitlement_id: Uuid,
    pub(super) subscription_id: Uuid,
    pub(super) order_id: Option<Uuid>,
    pub(super) operation: String,
    pub(super) correlation_id: String,
    pub(super) attempt: i32,
}

impl Case {
    pub(super) fn of(job: JobRef, operation: &Operation) -> Self {
        Self {
            job,
            operation_id: operation.operation_id,
            entitlement_id: operation.entitlement_id,
            subscription_id: operation.subscription_id,
            order_id: operation.order_id,
            operation: operation.operation.clone(),
            correlation_id: operation.correlation_id.clone(),
            attempt: operation.attempt_count,
        }
    }
}

impl From<&Claimed> for Case {
    fn from(claimed: &Claimed) -> Self {
        Self {
            job: claimed.job,
            operation_id: claimed.operation_id.as_uuid(),
            entitlement_id: claimed.entitlement_id.as_uuid(),
            subscription_id: claimed.subscription_id.as_uuid(),
            order_id: claimed.order_id.map(Into::into),
            operation: claimed.kind.as_str().to_owned(),
            correlation_id: claimed.correlation_id.clone(),
            attempt: claimed.attempt,
        }
    }
}

impl Fulfillment {
    /// Ends an operation without a call. The lease is taken for it: nobody may be writing meanwhile.
    pub(super) async fn close(&self, job: JobRef, operation: &Operation, ending: Ending) -> Result<Claim, Fault> {
        let mut case = Case::of(job, operation);
        let counts = matches!(&ending, Ending::Failed { code } if code == INVALID_DESIRED_STATE);
        case.attempt = case.attempt.saturating_add(i32::from(counts));
        let (token, reconcile) = (self.ids.next(), self.ids.next());
        let metadata = self.metadata(case.operation_id, &case.correlation_id);
        let uow = self
            .store
            .load(&streams(case.entitlement_id, case.order_id), metadata)
            .await?;
        let mut open = uow.begin().await?;
        let taken = leases::take_in(open.conn(), case.subscription_id, token, case.operation_id, LEASE).await?;
        let taken_over = match taken {
            Lease::Refused { rest } => {
                open.rollback().await;
                return Ok(Claim::Wait(rest.max(std::time::Duration::from_millis(50))));
            }
            Lease::Taken { taken_over, .. } => taken_over,
        };
        if operations::lock_in(open.conn(), case.operation_id)
            .await?
            .is_none_or(|row| row.is_terminal())
        {
            open.rollback().await;
            return Ok(Claim::Over);
        }
        if counts {
            operations::count_in(open.conn(), case.operation_id).await?;
        }
        self.conclude(&mut open, &case, &ending).await?;
        if taken_over || operation.unanswered {
            self.open_reconcile_in(&mut open, &late_write::Wanted::after(&case, reconcile, LATE_WRITE))
                .await?;
        }
        leases::release_in(open.conn(), case.subscription_id, token).await?;
        open.commit().await?;
        Ok(Claim::Over)
    }

    /// Everything that an end brings about, except for the lease.
    pub(super) async fn conclude(&self, open: &mut OpenUnitOfWork, case: &Case, ending: &Ending) -> Result<(), Fault> {
        let at = self.clock.now();
        let events = self.decide(open, case, ending, at).await?;
        let conn = open.conn();
        let end = match ending {
            Ending::Applied { .. } | Ending::Gone => End::Succeeded { code: None },
            Ending::Superseded => End::Succeeded {
                code: Some(ENTITLEMENT_SUPERSEDED),
            },
            Ending::Failed { code } => End::Failed { code },
            Ending::Cancelled { code } => End::Cancelled { code },
        };
        operations::end_in(conn, case.operation_id, end).await?;
        let (status, code, finish) = match end {
            End::Succeeded { code } => ("succeeded", code, Finish::Completed),
            // Another run would find the same: the job is cancelled and not used up.
            End::Failed { code } if matches!(code, INVALID_DESIRED_STATE | UNSUPPORTED_OPERATION) => {
                ("failed", Some(code), Finish::Cancelled { error: code.to_owned() })
            }
            End::Failed { code } => ("failed", Some(code), Finish::Discarded { error: code.to_owned() }),
            End::Cancelled { code } => ("cancelled", Some(code), Finish::Cancelled { error: code.to_owned() }),
        };
        let kind = if matches!(ending, Ending::Superseded) {
            "close"
        } else {
            "attempt"
        };
        history::append_in(conn, case.entry(kind, status, code)).await?;
        let subject = case.operation_id.to_string();
        match end {
            End::Failed { code } => {
                dead_letters::insert_in(conn, case.dead_letter(&subject, code)).await?;
                notice_in(conn, case, code, status).await?;
            }
            End::Succeeded { .. } | End::Cancelled { .. } => dead_letters::resolve_in(conn, KIND, &subject).await?,
        }
        drifts::follow_in(conn, (case.entitlement_id, case.subscription_id), &events).await?;
        match ending {
            Ending::Applied { remote_user_id, .. } => {
                checks::agreed_in(conn, case.checked(), Some(*remote_user_id), at).await?;
            }
            Ending::Gone => checks::agreed_in(conn, case.checked(), None, at).await?,
            Ending::Failed { .. } if case.is_reconcile() => {
                checks::tried_in(conn, case.checked(), at + PUT_OFF).await?;
            }
            Ending::Superseded | Ending::Failed { .. } | Ending::Cancelled { .. } => {}
        }
        finish_in(conn, case.job.job_id, case.job.attempt, &finish).await?;
        Ok(())
    }

    /// The events of the entitlement.
    async fn decide(
        &self,
        open: &mut OpenUnitOfWork,
        case: &Case,
        ending: &Ending,
        at: Timestamp,
    ) -> Result<Vec<entitlement::Event>, Fault> {
        let command = if case.is_reconcile() {
            reconcile_command(open.conn(), case, ending, at).await?
        } else {
            command(case, ending, at)
        };
        let events = open
            .execute::<Entitlement>(case.entitlement_id, command)
            .map_err(refused)?;
        let succeeded = matches!(ending, Ending::Applied { .. } | Ending::Superseded);
        if let Some(order_id) = case.order_id.filter(|_| succeeded) {
            open.execute::<Order>(order_id, order::Command::MarkFulfilled { at })
                .map_err(refused)?;
        }
        Ok(events)
    }

    /// A job whose operation does not exist: nothing to record it at but the dead letter.
    pub(super) async fn close_unknown(&self, job: JobRef, operation_id: Uuid) -> Result<(), Fault> {
        const CODE: &str = "operation_not_found";
        let mut rows = SideRows::begin(self.store.pool()).await?;
        let letter = NewDeadLetter {
            kind: KIND,
            subject: &operation_id.to_string(),
            job_id: Some(job.job_id),
            attempts: job.attempt,
            code: CODE,
            correlation_id: "",
        };
        dead_letters::insert_in(rows.conn(), letter).await?;
        finish_in(
            rows.conn(),
            job.job_id,
            job.attempt,
            &Finish::Cancelled { error: CODE.to_owned() },
        )
        .await?;
        Ok(rows.commit().await?)
    }

    /// The entitlement's stream cannot be read: the end is recorded everywhere but there.
    pub(super) async fn close_unread(&self, job: JobRef, operation: &Operation) -> Result<(), Fault> {
        let mut case = Case::of(job, operation);
        case.attempt = case.attempt.saturating_add(1);
        let mut rows = SideRows::begin(self.store.pool()).await?;
        let conn = rows.conn();
        operations::count_in(conn, case.operation_id).await?;
        operations::end_in(
            conn,
            case.operation_id,
            End::Failed {
                code: INVALID_DESIRED_STATE,
            },
        )
        .await?;
        history::append_in(conn, case.entry("attempt", "failed", Some(INVALID_DESIRED_STATE))).await?;
        let subject = case.operation_id.to_string();
        dead_letters::insert_in(conn, case.dead_letter(&subject, INVALID_DESIRED_STATE)).await?;
        notice_in(conn, &case, INVALID_DESIRED_STATE, "failed").await?;
        let finish = Finish::Cancelled {
            error: INVALID_DESIRED_STATE.to_owned(),
        };
        finish_in(conn, job.job_id, job.attempt, &finish).await?;
        tracing::error!(operation_id = %case.operation_id, "the desired state of an operation cannot be read");
        Ok(rows.commit().await?)
    }
}

impl Case {
    pub(super) fn is_reconcile(&self) -> bool {
        self.operation == OperationKind::Reconcile.as_str()
    }

    pub(super) const fn checked(&self) -> Checked {
        Checked {
            entitlement_id: self.entitlement_id,
            subscription_id: self.subscription_id,
        }
    }

    pub(super) fn entry<'a>(&'a self, kind: &'a str, status: &'a str, code: Option<&'a str>) -> history::Entry<'a> {
        history::Entry {
            operation_id: self.operation_id,
            kind,
            status,
            attempt: self.attempt,
            error_code: code,
            correlation_id: &self.correlation_id,
        }
    }

    fn dead_letter<'a>(&'a self, subject: &'a str, code: &'a str) -> NewDeadLetter<'a> {
        NewDeadLetter {
            kind: KIND,
            subject,
            job_id: Some(self.job.job_id),
            attempts: self.attempt,
            code,
            correlation_id: &self.correlation_id,
        }
    }
}

/// One message for one struggling operation, however often it fails. Never a body of the panel.
pub(super) async fn notice_in(
    conn: &mut store::Connection,
    case: &Case,
    code: &str,
    status: &str,
) -> Result<(), Fault> {
    let payload = json!({
        "entitlementId": case.entitlement_id,
        "operation": case.operation,
        "errorCode": code,
        "status": status,
    });
    notices::insert_in(conn, NOTICE, &format!("operation:{}", case.operation_id), &payload).await?;
    Ok(())
}

/// What follows from an aggregate's own state is not refused by it; if it is, the run ends with the code and operators see it.
pub(crate) fn refused<E: domain::aggregate::Rejection>(error: ExecuteError<E>) -> Fault {
    match error {
        ExecuteError::Rejected(rejection) => Fault::Refused { code: rejection.code() },
        ExecuteError::Store(error) => error.into(),
    }
}
