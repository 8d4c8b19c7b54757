//! Deliveries as operators see them: the list from its read model, one from its stream.

use domain::{
    delivery::{Delivery, Event, State},
    ids::OrderId,
    time::Timestamp,
};
use serde::Serialize;
use store::{
    delivery_list::{self, DeliveryRow, Listed},
    event_log::read_facts,
    read_model::Page,
};
use uuid::Uuid;

use super::resolve_delivery::{DeliveryView, view};
use crate::{Error, Refusal, Service, delivery::class_name};

/// More events than any delivery can have: six submissions, a decision.
const MOST_EVENTS: i64 = 100;

/// What happened to a delivery, without payloads of its provider and without its recipient.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DeliveryStep {
    /// `owed`, `submission_started`, `accepted`, `attempt_failed`, …
    pub event: String,
    /// When it happened.
    pub at: Timestamp,
    /// Number of the submission.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempt: Option<i32>,
    /// How sure it is that nothing was executed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure_class: Option<&'static str>,
    /// Stable code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// When the next submission is due.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_at: Option<Timestamp>,
    /// The provider's name for what it accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// Why, in the words of the person who decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// One delivery with its history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DeliveryDetail {
    /// As in the answer to a decision.
    #[serde(flatten)]
    pub delivery: DeliveryView,
    /// Who bought.
    pub customer_id: Uuid,
    /// Slug of the provider.
    pub provider: String,
    /// What was bought.
    pub product_code: String,
    /// What was paid, in minor units.
    pub price_minor: i64,
    /// Of all amounts.
    pub currency: String,
    /// What a person may do now: `resolve`, `cancel`, or nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<&'static str>,
    /// What happened, oldest first.
    pub history: Vec<DeliveryStep>,
}

impl Service {
    /// Deliveries, newest order first.
    ///
    /// # Errors
    /// A fault of the store.
    pub async fn list_deliveries(
        &self,
        listed: &Listed,
        before: Option<Uuid>,
        limit: i64,
    ) -> Result<Page<DeliveryRow>, Error> {
        Ok(delivery_list::list(self.store.pool(), listed, before, limit).await?)
    }

    /// One delivery, as its stream has it now.
    ///
    /// # Errors
    /// [`Error::Refused`] (`delivery_not_found`), or a fault of the store.
    pub async fn get_delivery(&self, order_id: OrderId) -> Result<DeliveryDetail, Error> {
        let delivery = self.store.fold::<Delivery>(order_id).await?.state;
        let (Some(product), Some(price)) = (&delivery.product, delivery.price) else {
            return Err(Refusal::of(404, &domain::delivery::Error::NotFound).into());
        };
        let facts = read_facts::<Delivery>(self.store.pool(), order_id.as_uuid(), MOST_EVENTS).await?;
        let history = facts.into_iter().map(step).collect();
        Ok(DeliveryDetail {
            customer_id: delivery.customer_id.as_uuid(),
            provider: product.provider.clone(),
            product_code: product.code.clone(),
            price_minor: price.amount_minor(),
            currency: price.currency().as_str().to_owned(),
            decision: match delivery.state {
                State::NeedsReview { .. } => Some("resolve"),
                State::Owed | State::RetryWait { .. } => Some("cancel"),
                State::Absent
                | State::Submitting { .. }
                | State::Accepted { .. }
                | State::Delivered
                | State::Failed { .. }
                | State::Cancelled => None,
            },
            delivery: view(&delivery),
            history,
        })
    }
}

/// What an event says to a person.
fn step(event: Event) -> DeliveryStep {
    let plain = |event: &str, at| DeliveryStep {
        event: event.to_owned(),
        at,
        attempt: None,
        failure_class: None,
        code: None,
        retry_at: None,
        reference: None,
        reason: None,
    };
    match event {
        Event::Owed { at, .. } => plain("owed", at),
        Event::SubmissionStarted { attempt, at, .. } => DeliveryStep {
            attempt: Some(attempt),
            ..plain("submission_started", at)
        },
        Event::Accepted {
            attempt, reference, at, ..
        } => DeliveryStep {
            attempt: Some(attempt),
            reference: Some(reference),
            ..plain("accepted", at)
        },
        Event::Delivered { attempt, at } => DeliveryStep {
            attempt: Some(attempt),
            ..plain("delivered", at)
        },
        Event::AttemptFailed {
            attempt,
            class,
            code,
            retry_at,
            at,
        } => DeliveryStep {
            attempt: Some(attempt),
            failure_class: Some(class_name(class)),
            code: Some(code),
            retry_at,
            ..plain("attempt_failed", at)
        },
        Event::Parked { code, at } => DeliveryStep {
            code: Some(code),
            ..plain("parked", at)
        },
        Event::Resolved { delivered, reason, at } => DeliveryStep {
            code: Some(if delivered { "delivered" } else { "not_delivered" }.to_owned()),
            reason: Some(reason),
            ..plain("resolved", at)
        },
        Event::Failed { code, at } => DeliveryStep {
            code: Some(code),
            ..plain("failed", at)
        },
        Event::Cancelled { reason, at } => DeliveryStep {
            reason: Some(reason),
            ..plain("cancelled", at)
        },
        Event::RefundOwed { at, .. } => plain("refund_owed", at),
    }
}
