//! Abandoning an operation. The desired state stays: the next reconcile applies it.

use domain::{
    entitlement::{self, BadEnd, Entitlement, OpenOperation, OperationKind},
    fulfillment::code::OPERATOR_CANCELLED,
    ids::OperationId,
    time::Timestamp,
};
use queue::{CancelResult, FulfillmentArgs, JobClient, QueueError};
use serde_json::json;
use store::{
    ExecuteError, OpenUnitOfWork, StoreError, StreamId, UnitOfWork,
    audit::{self, Category},
    dead_letters,
    history::{self, Entry},
    operations::{self, End, Operation},
    reconciles,
};

use super::retry_operation::{conflict, target};
use crate::{Caller, Error, Refusal, Service, fulfillment::KIND, retry::retry_on_conflict};

/// What the audit trail calls it.
const CANCELLED: &str = "panel.fulfillment.cancelled";
/// Of the history's row about a run that was asked to cancel.
const CANCEL_REQUESTED: &str = "cancel_requested";

/// What became of a request to cancel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cancellation {
    /// It ended now.
    Done,
    /// It is running: its run ends it, unless its request is sent already.
    Marked,
}

impl Service {
    /// Cancels an operation that has not succeeded, with the job that waits to run it.
    ///
    /// # Errors
    /// [`Error::Refused`] (`operation_not_found`, `state_conflict` when it has succeeded or was cancelled), or a fault.
    pub async fn cancel_operation(&self, caller: &Caller, operation_id: OperationId) -> Result<Cancellation, Error> {
        let at = self.clock.now();
        retry_on_conflict(&*self.ids, || self.cancel_operation_once(caller, operation_id, at)).await
    }

    async fn cancel_operation_once(
        &self,
        caller: &Caller,
        operation_id: OperationId,
        at: Timestamp,
    ) -> Result<Cancellation, Error> {
        let found = self.operation(operation_id).await?;
        let stream = StreamId::of::<Entitlement>(found.entitlement_id);
        let mut work = self.store.load(&[stream], caller.metadata(at)).await?;
        if found.status == "running" {
            let mut work = work.begin().await?;
            if !operations::request_cancel_in(work.conn(), found.operation_id).await? {
                // It has just ended, or is being retried: look again.
                return Err(StoreError::Conflict.into());
            }
            history::append_in(work.conn(), entry(&found, caller, "running", CANCEL_REQUESTED)).await?;
            audit_in(&mut work, &found, caller, at).await?;
            // The job is left alone: cutting its call off would only leave a request without an answer.
            work.commit().await?;
            return Ok(Cancellation::Marked);
        }
        let command = cancel_command(&mut work, &found, at).await?;
        match work.execute::<Entitlement>(found.entitlement_id, command) {
            Ok(events) if events.is_empty() => return Err(conflict("the operation was cancelled before").into()),
            Ok(_) => {}
            Err(ExecuteError::Rejected(error)) => return Err(Refusal::of(409, &error).into()),
            Err(ExecuteError::Store(error)) => return Err(error.into()),
        }
        let mut work = work.begin().await?;
        match operations::lock_in(work.conn(), found.operation_id).await? {
            Some(now) if now.status == found.status => {}
            _ => return Err(StoreError::Conflict.into()),
        }
        if !operations::end_in(
            work.conn(),
            found.operation_id,
            End::Cancelled {
                code: OPERATOR_CANCELLED,
            },
        )
        .await?
        {
            return Err(StoreError::Conflict.into());
        }
        history::append_in(work.conn(), entry(&found, caller, "cancelled", OPERATOR_CANCELLED)).await?;
        dead_letters::resolve_in(work.conn(), KIND, &found.operation_id.to_string()).await?;
        audit_in(&mut work, &found, caller, at).await?;
        if let Some(queue) = &self.queue {
            cancel_job(queue, &mut work, &found).await?;
        }
        work.commit().await?;
        Ok(Cancellation::Done)
    }
}

/// A `reconcile` may live in its row alone until it ends.
async fn cancel_command(
    work: &mut UnitOfWork,
    found: &Operation,
    at: Timestamp,
) -> Result<entitlement::Command, Error> {
    let (operation_id, code) = (OperationId::new(found.operation_id), OPERATOR_CANCELLED.to_owned());
    if found.operation != OperationKind::Reconcile.as_str() {
        return Ok(entitlement::Command::CancelOperation { operation_id, code, at });
    }
    let key = work
        .read(async |conn| reconciles::key_in(conn, found.operation_id).await)
        .await?;
    let operation = OpenOperation {
        operation_id,
        idempotency_key: key.unwrap_or_else(|| operation_id.to_string()),
        correlation_id: found.correlation_id.clone(),
    };
    Ok(entitlement::Command::EndReconcile {
        operation,
        end: BadEnd::Cancelled,
        code,
        at,
    })
}

/// The live job of an operation, if there is one.
async fn cancel_job(queue: &JobClient, work: &mut OpenUnitOfWork, operation: &Operation) -> Result<(), Error> {
    let args = FulfillmentArgs {
        operation_id: operation.operation_id,
    };
    let Some(job) = queue.live_in(work.conn(), &args).await? else {
        return Ok(());
    };
    match queue.cancel_in(work.conn(), job.id).await {
        Ok(CancelResult::Cancelled | CancelResult::Marked)
        | Err(QueueError::NotFound | QueueError::Rejected { .. }) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// `status` is how it stood when the operator spoke: a run that is only marked goes on.
async fn audit_in(
    work: &mut OpenUnitOfWork,
    operation: &Operation,
    caller: &Caller,
    at: Timestamp,
) -> Result<(), StoreError> {
    let facts = json!({ "operation": operation.operation, "status": operation.status });
    let id = operation.operation_id.to_string();
    let record = caller.audit(CANCELLED, Category::System, target(&id), facts, at);
    audit::record_in(work.conn(), record).await
}

fn entry<'a>(operation: &Operation, caller: &'a Caller, status: &'a str, code: &'a str) -> Entry<'a> {
    Entry {
        operation_id: operation.operation_id,
        kind: "operator",
        status,
        attempt: operation.attempt_count,
        error_code: Some(code),
        correlation_id: &caller.correlation_id,
    }
}
