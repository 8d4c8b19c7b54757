//! Rows of the queue, over the bearer token. A job is only the carrier of its record's work, so a change of it is a change of the record
//! where there is one: retrying the job of a failed operation is the operation's retry, cancelling a waiting one cancels the operation.

use domain::{delivery, ids::OperationId};
use queue::{JobClient, JobState, JobView, Listing, ListingFilter, QueueError, Subject};
use serde_json::json;
use store::{
    audit::{self, Category, Target},
    operations,
    transaction::SideRows,
};

use super::retry_operation::no_queue;
use crate::{Caller, Error, Refusal, Service};

/// What the audit trail calls a job that was made due.
const RETRIED: &str = "admin.job.retried";
/// What the audit trail calls a job that was withdrawn.
const CANCELLED: &str = "admin.job.cancelled";

impl Service {
    /// Jobs of the given states, newest first.
    ///
    /// # Errors
    /// `jobs_unavailable` without a queue (503) or when it cannot be read (500).
    pub async fn list_jobs(&self, filter: &ListingFilter) -> Result<Listing, Error> {
        Ok(self.job_client()?.list(filter).await?)
    }

    /// One job.
    ///
    /// # Errors
    /// [`QueueError::NotFound`], `jobs_unavailable`.
    pub async fn job(&self, id: i64) -> Result<JobView, Error> {
        Ok(self.job_client()?.get(id).await?)
    }

    /// Makes a job run again. The answer is the job that will run.
    ///
    /// # Errors
    /// [`Error::Refused`] (`job_mutation_rejected`) when the state of the job or of its record does not allow it,
    /// and for an id that is not there; [`QueueError::StillLive`], `jobs_unavailable`.
    pub async fn retry_job(&self, caller: &Caller, id: i64) -> Result<JobView, Error> {
        let queue = self.job_client()?;
        let job = to_change(queue.get(id).await)?;
        match job.subject {
            Subject::Operation(operation_id) => self.retry_operation_job(caller, queue, id, operation_id.into()).await,
            Subject::Order(order_id) => {
                let folded = self.store.fold::<delivery::Delivery>(order_id).await?;
                match folded.state.state {
                    delivery::State::Delivered
                    | delivery::State::Failed { .. }
                    | delivery::State::Cancelled
                    | delivery::State::NeedsReview { .. } => Err(rejected().into()),
                    delivery::State::Absent
                    | delivery::State::Owed
                    | delivery::State::Submitting { .. }
                    | delivery::State::Accepted { .. }
                    | delivery::State::RetryWait { .. } => self.retry_row(caller, queue, id).await,
                }
            }
            Subject::Pass(_) | Subject::Unknown => self.retry_row(caller, queue, id).await,
        }
    }

    async fn retry_operation_job(
        &self,
        caller: &Caller,
        queue: &JobClient,
        id: i64,
        operation_id: OperationId,
    ) -> Result<JobView, Error> {
        let status = match self.operation(operation_id).await {
            Ok(operation) => operation.status,
            // The record is gone or never was: the job is all there is.
            Err(Error::Refused(_)) => return self.retry_row(caller, queue, id).await,
            Err(error) => return Err(error),
        };
        match status.as_str() {
            "failed" => {
                let retried = self.retry_operation(caller, operation_id).await.map_err(as_mutation)?;
                Ok(queue.get(retried.job_id.unwrap_or(id)).await?)
            }
            "succeeded" | "cancelled" | "running" => Err(rejected().into()),
            _ => {
                // The row decides when a run may begin; a job that comes before that only snoozes.
                let mut rows = SideRows::begin(self.store.pool()).await?;
                operations::hurry_in(rows.conn(), operation_id.as_uuid()).await?;
                let job = queue.retry_in(rows.conn(), id).await?;
                self.audit_job_in(&mut rows, caller, RETRIED, &job).await?;
                rows.commit().await?;
                Ok(job)
            }
        }
    }

    async fn retry_row(&self, caller: &Caller, queue: &JobClient, id: i64) -> Result<JobView, Error> {
        let mut rows = SideRows::begin(self.store.pool()).await?;
        let job = queue.retry_in(rows.conn(), id).await?;
        self.audit_job_in(&mut rows, caller, RETRIED, &job).await?;
        rows.commit().await?;
        Ok(job)
    }

    /// Cancels a job that has not ended: a waiting one at once, a running one as soon as its run lets it.
    ///
    /// # Errors
    /// [`QueueError::Rejected`] when it has ended, [`Error::Refused`] (`job_mutation_rejected`) for an id that is not there,
    /// `jobs_unavailable`.
    pub async fn cancel_job(&self, caller: &Caller, id: i64) -> Result<JobView, Error> {
        let queue = self.job_client()?;
        let job = to_change(queue.get(id).await)?;
        if matches!(
            job.state,
            JobState::Cancelled | JobState::Completed | JobState::Discarded
        ) {
            return Err(QueueError::Rejected { state: job.state }.into());
        }
        let of_record = match job.subject {
            Subject::Operation(operation_id) => match self.cancel_operation(caller, operation_id.into()).await {
                Ok(_) => true,
                // The operation has ended or is unknown; the job that is left over can still go.
                Err(Error::Refused(_)) => false,
                Err(error) => return Err(error),
            },
            Subject::Order(_) | Subject::Pass(_) | Subject::Unknown => false,
        };
        if !of_record {
            let mut rows = SideRows::begin(self.store.pool()).await?;
            queue.cancel_in(rows.conn(), id).await?;
            self.audit_job_in(&mut rows, caller, CANCELLED, &job).await?;
            rows.commit().await?;
        }
        Ok(queue.get(id).await?)
    }

    async fn audit_job_in(
        &self,
        rows: &mut SideRows,
        caller: &Caller,
        action: &'static str,
        job: &JobView,
    ) -> Result<(), Error> {
        let id = job.id.to_string();
        let target = Target { kind: "job", id: &id };
        let facts = json!({ "kind": job.kind, "state": job.state.as_str(), "attempt": job.attempt });
        let record = caller.audit(action, Category::System, target, facts, self.clock.now());
        Ok(audit::record_in(rows.conn(), record).await?)
    }

    pub(super) fn job_client(&self) -> Result<&JobClient, Error> {
        self.queue.as_ref().ok_or_else(no_queue)
    }
}

/// A job that is not there cannot be changed: to whoever named it this is no other answer than that its state does not allow it.
fn to_change(found: Result<JobView, QueueError>) -> Result<JobView, Error> {
    match found {
        Err(QueueError::NotFound) => Err(rejected().into()),
        found => Ok(found?),
    }
}

/// What the operation's retry refused is, to whoever named the job, a refused change of the job.
fn as_mutation(error: Error) -> Error {
    match error {
        Error::Refused(_) => rejected().into(),
        error => error,
    }
}

const fn rejected() -> Refusal {
    Refusal::new(
        422,
        "job_mutation_rejected",
        "the state of the job's record does not allow it",
    )
}
