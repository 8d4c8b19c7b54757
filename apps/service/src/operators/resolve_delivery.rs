//! A person's verdict on a parked delivery.

use domain::{
    delivery::{self, Delivery, State, Verdict},
    ids::OrderId,
    money::Money,
    order::{self, Order},
    time::Timestamp,
};
use serde::{Deserialize, Serialize};
use serde_json::json;
use store::{
    ExecuteError, KeyedRequest, OpenUnitOfWork, StreamId,
    audit::{self, Category, Target},
    dead_letters,
    deliveries::{self, Change},
};
use uuid::Uuid;

use crate::{
    Caller, Done, Error, Refusal, Service,
    answers::{self, Turn},
    delivery::KIND,
    retry::retry_on_conflict,
};

/// What the person found out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ResolveDelivery {
    /// Whose goods.
    pub order_id: OrderId,
    /// The recipient has them, or not.
    pub delivered: bool,
    /// How the person knows.
    pub reason: String,
}

/// A delivery.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DeliveryView {
    /// Whose goods; also the delivery's id.
    pub order_id: Uuid,
    /// `pending`, `submitted`, `needs_review`, `delivered`, `failed` or `cancelled`.
    pub state: String,
    /// Submissions started.
    pub attempts: i32,
    /// Money owed back, in minor units; 0 when the goods came.
    pub refund_owed_minor: i64,
}

impl Service {
    /// Ends a parked delivery. Goods that came fulfil the order; goods that did not come leave a visible debt.
    ///
    /// # Errors
    /// [`Error::Refused`] (`delivery_not_found`, `state_conflict`), [`Error::KeyReused`], or a fault of the store.
    pub async fn resolve_delivery(
        &self,
        caller: &Caller,
        key: &KeyedRequest,
        request: &ResolveDelivery,
    ) -> Result<Done<DeliveryView>, Error> {
        let caller = caller.clone().because(&request.reason);
        let at = self.clock.now();
        retry_on_conflict(&*self.ids, || self.resolve_once(&caller, key, request, at)).await
    }

    async fn resolve_once(
        &self,
        caller: &Caller,
        key: &KeyedRequest,
        request: &ResolveDelivery,
        at: Timestamp,
    ) -> Result<Done<DeliveryView>, Error> {
        let id = request.order_id;
        let streams = [StreamId::of::<Delivery>(id), StreamId::of::<Order>(id)];
        let loaded = self.store.load_keyed(key, &streams, caller.metadata(at)).await?;
        let mut work = match answers::turn(loaded)? {
            Turn::Answered(done) => return Ok(done),
            Turn::Fresh(work) => *work,
        };
        let command = delivery::Command::Resolve {
            verdict: if request.delivered {
                Verdict::Delivered
            } else {
                Verdict::NotDelivered
            },
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
        if request.delivered {
            work.execute::<Order>(id, order::Command::MarkFulfilled { at })
                .map_err(Error::executing)?;
        }
        let value = view(work.state::<Delivery>(id)?);
        let mut work = work.begin().await?;
        close_row(&mut work, &value, "resolved_by_operator").await?;
        if !request.delivered {
            // What surely was not bought no longer counts against the ceiling.
            deliveries::unspend_in(work.conn(), value.order_id, value.attempts).await?;
        }
        dead_letters::resolve_in(work.conn(), KIND, &id.to_string()).await?;
        audit_in(&mut work, "panel.goods.resolved", &value, caller, at).await?;
        work.answer(key, answers::answer(200, &value)?);
        let committed = work.commit().await?;
        Ok(Done {
            value,
            position: committed.position,
            repeated: false,
        })
    }
}

pub(super) async fn audit_in(
    work: &mut OpenUnitOfWork,
    action: &str,
    view: &DeliveryView,
    caller: &Caller,
    at: Timestamp,
) -> Result<(), Error> {
    let facts = json!({ "state": view.state, "attempts": view.attempts, "refundOwedMinor": view.refund_owed_minor });
    let id = view.order_id.to_string();
    let target = Target {
        kind: "delivery",
        id: &id,
    };
    let record = caller.audit(action, Category::Financial, target, facts, at);
    Ok(audit::record_in(work.conn(), record).await?)
}

/// The schedule has nothing more to do with it.
pub(super) async fn close_row(work: &mut OpenUnitOfWork, view: &DeliveryView, code: &str) -> Result<(), Error> {
    let change = Change {
        status: &view.state,
        attempt_count: view.attempts,
        due_in: None,
        failure_class: None,
        code: Some(code),
        reference: None,
    };
    Ok(deliveries::change_in(work.conn(), view.order_id, change).await?)
}

pub(super) fn view(delivery: &Delivery) -> DeliveryView {
    DeliveryView {
        order_id: delivery.order_id.as_uuid(),
        state: match delivery.state {
            State::Delivered => "delivered",
            State::Failed { .. } => "failed",
            State::Cancelled => "cancelled",
            State::NeedsReview { .. } => "needs_review",
            State::Absent | State::Owed | State::RetryWait { .. } => "pending",
            State::Submitting { .. } | State::Accepted { .. } => "submitted",
        }
        .to_owned(),
        attempts: delivery.attempts,
        refund_owed_minor: delivery.refund_owed.map_or(0, Money::amount_minor),
    }
}
