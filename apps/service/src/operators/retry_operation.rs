//! Retrying a failed operation: a new budget under the same idempotency key, and its job, in one transaction.

use std::time::Duration;

use domain::{
    entitlement::{self, Entitlement},
    ids::OperationId,
    time::Timestamp,
};
use queue::{FulfillmentArgs, JobClient, QueueError};
use serde::Serialize;
use serde_json::{Map, Value, json};
use store::{
    ExecuteError, StreamId,
    audit::{self, Category, Target},
    dead_letters,
    history::{self, Entry},
    operations::{self, Operation},
};
use tokio::time::Instant;
use uuid::Uuid;

use crate::{Caller, Error, Refusal, Service, fulfillment::KIND, retry::retry_on_conflict};

/// How long a retry waits for the run that still holds the job's place.
const PATIENCE: Duration = Duration::from_secs(2);
/// How often it looks again.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// What the audit trail calls it.
const RETRIED: &str = "panel.fulfillment.retried";

/// An operation after an operator's hand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OperationView {
    /// The operation.
    pub id: Uuid,
    /// Whose.
    pub entitlement_id: Uuid,
    /// Its kind.
    pub operation: String,
    /// How it stands now.
    pub status: String,
    /// The job that will run it, where one was inserted.
    pub job_id: Option<i64>,
}

impl Service {
    /// Gives a failed operation a new budget: counter 0, due now; its history goes on.
    ///
    /// # Errors
    /// [`Error::Refused`] (`operation_not_found`, `state_conflict`), [`QueueError::StillLive`] when the old job does not leave its place
    /// within two seconds, `jobs_unavailable` without a queue, or a fault.
    pub async fn retry_operation(&self, caller: &Caller, operation_id: OperationId) -> Result<OperationView, Error> {
        let queue = self.queue.as_ref().ok_or_else(no_queue)?;
        let at = self.clock.now();
        let until = Instant::now().checked_add(PATIENCE);
        loop {
            let tried = retry_on_conflict(&*self.ids, || {
                self.retry_operation_once(caller, queue, operation_id, at)
            })
            .await;
            match tried {
                Err(Error::Queue(QueueError::StillLive)) if until.is_some_and(|until| Instant::now() < until) => {
                    tokio::time::sleep(LOOK_EVERY).await;
                }
                outcome => return outcome,
            }
        }
    }

    async fn retry_operation_once(
        &self,
        caller: &Caller,
        queue: &JobClient,
        operation_id: OperationId,
        at: Timestamp,
    ) -> Result<OperationView, Error> {
        let found = self.operation(operation_id).await?;
        let stream = StreamId::of::<Entitlement>(found.entitlement_id);
        let mut work = self.store.load(&[stream], caller.metadata(at)).await?;
        let command = entitlement::Command::RetryOperation { operation_id, at };
        match work.execute::<Entitlement>(found.entitlement_id, command) {
            Ok(events) if events.is_empty() => return Err(conflict("only a failed operation can be retried").into()),
            Ok(_) => {}
            Err(ExecuteError::Rejected(error)) => return Err(Refusal::of(409, &error).into()),
            Err(ExecuteError::Store(error)) => return Err(error.into()),
        }
        // In the order that everybody keeps: operation, stream, job. The stream is appended at commit, so its conflict comes last.
        let mut work = work.begin().await?;
        if !operations::reopen_in(work.conn(), found.operation_id).await? {
            return Err(conflict("only a failed operation can be retried").into());
        }
        let entry = Entry {
            operation_id: found.operation_id,
            kind: "operator",
            status: "pending",
            attempt: 0,
            error_code: None,
            correlation_id: &caller.correlation_id,
        };
        history::append_in(work.conn(), entry).await?;
        let facts = json!({ "operation": found.operation, "attemptCount": found.attempt_count });
        let id = found.operation_id.to_string();
        dead_letters::resolve_in(work.conn(), KIND, &id).await?;
        let record = caller.audit(RETRIED, Category::System, target(&id), facts, at);
        audit::record_in(work.conn(), record).await?;
        let args = FulfillmentArgs {
            operation_id: found.operation_id,
        };
        let job_id = queue
            .insert_in(work.conn(), &args, &metadata(caller))
            .await?
            .expect_new()?;
        work.commit().await?;
        Ok(OperationView {
            id: found.operation_id,
            entitlement_id: found.entitlement_id,
            operation: found.operation,
            status: "pending".to_owned(),
            job_id: Some(job_id),
        })
    }

    /// The operational row of an operation.
    pub(super) async fn operation(&self, operation_id: OperationId) -> Result<Operation, Error> {
        let mut conn = self.store.pool().acquire().await.map_err(store::StoreError::from)?;
        let found = operations::find_in(&mut conn, operation_id.as_uuid()).await?;
        found.ok_or_else(|| super::operations::unknown().into())
    }
}

/// An operation as the audit trail names it.
pub(super) const fn target(operation_id: &str) -> Target<'_> {
    Target {
        kind: "fulfillment_operation",
        id: operation_id,
    }
}

/// Beside the arguments, because what is volatile must not be part of them.
pub(super) fn metadata(caller: &Caller) -> Map<String, Value> {
    let correlation = Value::from(caller.correlation_id.as_str());
    std::iter::once(("correlationId".to_owned(), correlation)).collect()
}

pub(crate) fn no_queue() -> Error {
    Refusal::new(503, "jobs_unavailable", "this process has no client of the queue").into()
}

pub(super) const fn conflict(detail: &'static str) -> Refusal {
    Refusal::new(409, "state_conflict", detail)
}
