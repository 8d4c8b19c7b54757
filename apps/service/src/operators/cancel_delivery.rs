//! A person withdraws a delivery of which surely nothing was bought. It ends with an explicit decision about the money.

use domain::{
    delivery::{self, Delivery},
    ids::OrderId,
    time::Timestamp,
};
use queue::{CancelResult, GoodsDeliveryArgs, QueueError};
use serde::Serialize;
use store::{ExecuteError, KeyedRequest, OpenUnitOfWork, StoreError, StreamId, deliveries};

use super::resolve_delivery::{DeliveryView, audit_in, close_row, view};
use crate::{
    Caller, Done, Error, Refusal, Service,
    answers::{self, Turn},
    retry::retry_on_conflict,
};

/// What is withdrawn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CancelDelivery {
    /// Whose goods.
    pub order_id: OrderId,
    /// Why.
    pub reason: String,
}

impl Service {
    /// Cancels a delivery that was not submitted yet, or whose last submission was surely not executed. What was paid becomes a visible debt.
    /// A submission that is open, accepted or parked refuses: something may have been bought.
    ///
    /// # Errors
    /// [`Error::Refused`] (`delivery_not_found`, `state_conflict`), [`Error::KeyReused`], or a fault of the store.
    pub async fn cancel_delivery(
        &self,
        caller: &Caller,
        key: &KeyedRequest,
        request: &CancelDelivery,
    ) -> Result<Done<DeliveryView>, Error> {
        let caller = caller.clone().because(&request.reason);
        let at = self.clock.now();
        retry_on_conflict(&*self.ids, || self.cancel_delivery_once(&caller, key, request, at)).await
    }

    async fn cancel_delivery_once(
        &self,
        caller: &Caller,
        key: &KeyedRequest,
        request: &CancelDelivery,
        at: Timestamp,
    ) -> Result<Done<DeliveryView>, Error> {
        let id = request.order_id;
        let streams = [StreamId::of::<Delivery>(id)];
        let loaded = self.store.load_keyed(key, &streams, caller.metadata(at)).await?;
        let mut work = match answers::turn(loaded)? {
            Turn::Answered(done) => return Ok(done),
            Turn::Fresh(work) => *work,
        };
        let command = delivery::Command::Cancel {
            reason: request.reason.clone(),
            at,
        };
        match work.execute::<Delivery>(id, command) {
            Ok(_) => {}
            Err(ExecuteError::Rejected(delivery::Error::NotFound)) => {
                return Err(Refusal::of(404, &delivery::Error::NotFound).into());
            }
            Err(ExecuteError::Rejected(error)) => return answers::refuse(work, key, Refusal::of(409, &error)).await,
            Err(ExecuteError::Store(error)) => return Err(error.into()),
        }
        let value = view(work.state::<Delivery>(id)?);
        let mut work = work.begin().await?;
        // The row's lock keeps a claim out; one that was faster moved the stream, and this commit conflicts.
        deliveries::lock_in(work.conn(), value.order_id)
            .await?
            .ok_or(StoreError::Conflict)?;
        close_row(&mut work, &value, "cancelled_by_operator").await?;
        self.cancel_delivery_job(&mut work, id).await?;
        audit_in(&mut work, "panel.goods.delivery_cancelled", &value, caller, at).await?;
        work.answer(key, answers::answer(200, &value)?);
        let committed = work.commit().await?;
        Ok(Done {
            value,
            position: committed.position,
            repeated: false,
        })
    }

    /// The job that waits for the next submission has nothing left to do.
    async fn cancel_delivery_job(&self, work: &mut OpenUnitOfWork, order_id: OrderId) -> Result<(), Error> {
        let Some(queue) = &self.queue else {
            return Ok(());
        };
        let args = GoodsDeliveryArgs {
            order_id: order_id.as_uuid(),
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
}
