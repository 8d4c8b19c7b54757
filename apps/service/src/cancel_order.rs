//! Withdrawing an unpaid order, and then, as far as the providers let us, its requests for money.

use std::time::Duration;

use domain::{
    ids::OrderId,
    order::{self, Order},
    time::Timestamp,
};
use ports::payments::Status;
use store::{ExecuteError, KeyedRequest, StreamId, payments};

use crate::{
    Caller, Done, Error, OrderView, Refusal, Service,
    answers::{self, Turn},
    get_order::not_found,
    retry::retry_on_conflict,
};

/// Patience with one provider: whoever cancels does not wait longer for what is best effort.
const PATIENCE: Duration = Duration::from_secs(5);

impl Service {
    /// Cancels an unpaid order; cancelling it again succeeds. After the commit its open requests for money are withdrawn; a provider
    /// that refuses changes nothing: money that still arrives settles the order, and operators are told.
    ///
    /// # Errors
    /// [`Error::Refused`] (`order_not_found`, `order_cancellation_rejected`), [`Error::KeyReused`], or a fault of the store.
    pub async fn cancel_order(
        &self,
        caller: &Caller,
        key: &KeyedRequest,
        order_id: OrderId,
    ) -> Result<Done<OrderView>, Error> {
        let at = self.clock.now();
        let done = retry_on_conflict(&*self.ids, || self.cancel_once(caller, key, order_id, at)).await?;
        if let Err(error) = self.withdraw_intents(order_id).await {
            tracing::warn!(code = error.code(), order_id = %order_id, "the order's payments were not withdrawn");
        }
        Ok(done)
    }

    async fn cancel_once(
        &self,
        caller: &Caller,
        key: &KeyedRequest,
        order_id: OrderId,
        at: Timestamp,
    ) -> Result<Done<OrderView>, Error> {
        let stream = StreamId::of::<Order>(order_id.as_uuid());
        let loaded = self.store.load_keyed(key, &[stream], caller.metadata(at)).await?;
        let mut work = match answers::turn(loaded)? {
            Turn::Answered(done) => return Ok(done),
            Turn::Fresh(work) => *work,
        };
        match work.execute::<Order>(order_id.as_uuid(), order::Command::Cancel { at }) {
            Ok(_) => {}
            // An order that is not there yet may be there for the next try: nothing to store.
            Err(ExecuteError::Rejected(order::Error::NotFound)) => return Err(not_found().into()),
            Err(ExecuteError::Rejected(error)) => {
                let refusal = Refusal::named(409, "order_cancellation_rejected", &error);
                return answers::refuse(work, key, refusal).await;
            }
            Err(ExecuteError::Store(error)) => return Err(error.into()),
        }
        let view = OrderView::of(work.state::<Order>(order_id.as_uuid())?).ok_or_else(not_found)?;
        work.answer(key, answers::answer(200, &view)?);
        let committed = work.commit().await?;
        Ok(Done {
            value: view,
            position: committed.position,
            repeated: false,
        })
    }

    /// Asks the providers to take no more money for an order.
    async fn withdraw_intents(&self, order_id: OrderId) -> Result<(), Error> {
        for intent in payments::open_intents(self.store.pool(), order_id.as_uuid()).await? {
            let (Some(provider), Some(reference)) = (
                self.providers.get(&intent.provider),
                intent.provider_reference.as_deref(),
            ) else {
                continue;
            };
            match tokio::time::timeout(PATIENCE, provider.cancel(reference)).await {
                Ok(Ok(())) => {
                    let answer = payments::IntentAnswer {
                        status: Status::Cancelled.as_str(),
                        reference: None,
                        checkout_url: None,
                    };
                    payments::record_answer(self.store.pool(), intent.intent_id, answer).await?;
                }
                Ok(Err(error)) => {
                    tracing::info!(intent_id = %intent.intent_id, %error, "the provider kept the payment open");
                }
                Err(_) => tracing::info!(intent_id = %intent.intent_id, "the provider did not withdraw in time"),
            }
        }
        Ok(())
    }
}
