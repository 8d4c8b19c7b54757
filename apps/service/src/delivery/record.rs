//! After the call: what the provider said.

use domain::delivery::{self, Submission};
use store::{StoreError, deliveries};
use tokio::time::Instant;
use uuid::Uuid;

use super::{Deliveries, Fault, Handed, JobRef, Poll, Submit, streams};
use crate::fulfillment::persist;

impl Deliveries {
    /// Records the outcome of a submission. Tried until `until`; nothing is sent again for it.
    ///
    /// # Errors
    /// [`Fault`] when nothing could be recorded: the submission is then found without an outcome.
    pub async fn record_submission(
        &self,
        submit: &Submit,
        outcome: &Submission,
        until: Instant,
    ) -> Result<Handed, Fault> {
        let order_id = submit.request.order_id.as_uuid();
        let command = || delivery::Command::RecordSubmission {
            attempt: submit.attempt,
            outcome: outcome.clone(),
            at: self.clock.now(),
        };
        persist(until, || {
            self.record(submit.job, order_id, &submit.correlation_id, command())
        })
        .await
    }

    /// Records what a question found; `None` is: still working.
    ///
    /// # Errors
    /// As [`Self::record_submission`].
    pub async fn record_poll(
        &self,
        poll: &Poll,
        outcome: Option<&Submission>,
        until: Instant,
    ) -> Result<Handed, Fault> {
        let command = || delivery::Command::RecordPoll {
            outcome: outcome.cloned(),
            at: self.clock.now(),
        };
        persist(until, || {
            self.record(poll.job, poll.order_id.as_uuid(), &poll.correlation_id, command())
        })
        .await
    }

    async fn record(
        &self,
        job: JobRef,
        order_id: Uuid,
        correlation_id: &str,
        command: delivery::Command,
    ) -> Result<Handed, Fault> {
        let metadata = self.metadata(order_id, correlation_id);
        let uow = self.store.load(&streams(order_id), metadata).await?;
        let mut open = uow.begin().await?;
        let Some(row) = deliveries::lock_in(open.conn(), order_id).await? else {
            return Err(StoreError::Conflict.into());
        };
        let handed = self.follow(&mut open, job, &row, command).await?;
        open.commit().await?;
        Ok(handed)
    }
}
