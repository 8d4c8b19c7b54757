//! Seeing a payment: the one way in which money settles an order, whoever reports it.
//!
//! Everything happens in one unit of work: the payment and the paid order, the entitlement or the delivery that is owed, its operational
//! row, the outbox, and the answer under the payment's own key. So the same payment, told twenty times at once by a webhook and by a
//! poll, settles once, and every teller gets the same answer.

use domain::{
    ids::{EntitlementId, IdempotencyKey, IntentId, OperationId, OrderId},
    money::Money,
    order::{self, Classification, Order},
    time::Timestamp,
};
use ports::payments::Status;
use serde::{Deserialize, Serialize};
use store::{
    ExecuteError, KeyedRequest, UnitOfWork,
    payments::{self, IntentAnswer, IntentRow},
};

use crate::{
    Caller, Done, Error, Refusal, Service,
    answers::{self, Turn},
    notices,
    retry::retry_on_conflict,
    settlement,
};

/// A payment, as somebody tells of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observation {
    /// Names the payment: the same for every teller of the same payment.
    pub event_id: String,
    /// What was paid.
    pub amount: Money,
    /// When it was told first.
    pub at: Timestamp,
}

impl Observation {
    /// Of a payment that a provider calls by `reference`. Webhook and poll name it alike; another amount is another observation.
    pub fn of_reference(reference: &str, amount: Money, at: Timestamp) -> Self {
        Self {
            event_id: format!("payment:{reference}:{}:{}", amount.amount_minor(), amount.currency()),
            amount,
            at,
        }
    }
}

/// What a payment meant for its order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Settlement {
    /// How it relates to the order.
    pub classification: Classification,
    /// It made the order paid.
    pub settled: bool,
}

/// Everything of one observation that must stay the same when it runs again.
struct Attempt<'a> {
    intent: &'a IntentRow,
    seen: &'a Observation,
    operation_id: OperationId,
    key: KeyedRequest,
}

impl Service {
    /// Records a payment of an intent, and settles the order when it is exactly what is owed.
    ///
    /// # Errors
    /// [`Error::Refused`] (`payment_not_found`) when the order never opened the intent, or a fault of the store.
    pub async fn observe_payment(
        &self,
        caller: &Caller,
        intent: &IntentRow,
        seen: &Observation,
    ) -> Result<Done<Settlement>, Error> {
        let attempt = Attempt {
            intent,
            seen,
            operation_id: self.ids.next().into(),
            key: payment_key(intent, seen)?,
        };
        let done = retry_on_conflict(&*self.ids, || self.observe_once(caller, &attempt)).await?;
        if done.value.settled {
            let answer = IntentAnswer {
                status: Status::Succeeded.as_str(),
                reference: None,
                checkout_url: None,
            };
            // The order says that it is paid; should this not be written, the next poll does it.
            payments::record_answer(self.store.pool(), intent.intent_id, answer).await?;
        }
        if !done.repeated {
            count(intent, &done.value);
        }
        Ok(done)
    }

    async fn observe_once(&self, caller: &Caller, attempt: &Attempt<'_>) -> Result<Done<Settlement>, Error> {
        let order_id = OrderId::new(attempt.intent.order_id);
        let entitlement_id = attempt.intent.entitlement_id.map(EntitlementId::new);
        let streams = settlement::streams(order_id, entitlement_id);
        let loaded = self
            .store
            .load_keyed(&attempt.key, &streams, caller.metadata(attempt.seen.at))
            .await?;
        let mut work = match answers::turn(loaded)? {
            Turn::Answered(done) => return Ok(done),
            Turn::Fresh(work) => *work,
        };
        let value = observe_into(&mut work, attempt.intent, attempt.seen, attempt.operation_id, caller)?;
        let answer = answers::answer(200, &value)?;
        let committed = if needs_operator(value.classification) {
            let mut work = work.begin().await?;
            let notice = notices::anomaly(attempt.intent, attempt.seen.amount, value.classification);
            notice.insert_in(&mut work).await?;
            work.answer(&attempt.key, answer);
            work.commit().await?
        } else {
            work.answer(&attempt.key, answer);
            work.commit().await?
        };
        Ok(Done {
            value,
            position: committed.position,
            repeated: false,
        })
    }
}

fn count(intent: &IntentRow, settlement: &Settlement) {
    let operation = if intent.entitlement_id.is_some() {
        "plan"
    } else {
        "goods"
    };
    metrics::counter!(
        "omniflow_payments_total",
        "provider" => intent.provider.clone(),
        "operation" => operation,
        "classification" => classification_name(settlement.classification),
    )
    .increment(1);
}

/// Decides the observation, and the settlement where it settles.
pub(crate) fn observe_into(
    work: &mut UnitOfWork,
    intent: &IntentRow,
    seen: &Observation,
    operation_id: OperationId,
    caller: &Caller,
) -> Result<Settlement, Error> {
    let (order_id, intent_id) = (OrderId::new(intent.order_id), IntentId::new(intent.intent_id));
    let command = order::Command::ObservePayment {
        intent_id,
        provider: intent.provider.clone(),
        provider_event_id: seen.event_id.clone(),
        amount: seen.amount,
        at: seen.at,
    };
    let events = match work.execute::<Order>(order_id, command) {
        Ok(events) => events,
        Err(ExecuteError::Rejected(error)) => return Err(Refusal::of(422, &error).into()),
        Err(ExecuteError::Store(error)) => return Err(error.into()),
    };
    let settled = settlement::is_settled(&events);
    if settled {
        settlement::settle(work, order_id, operation_id, &caller.correlation_id, seen.at)?;
    }
    // A payment that the stream knows although its answer was pruned has no event now.
    let known = work.state::<Order>(order_id)?.observed.get(&intent_id);
    let classification = known
        .and_then(|seen_before| seen_before.iter().find(|(id, _)| *id == seen.event_id))
        .map_or(Classification::Duplicate, |(_, classification)| *classification);
    Ok(Settlement {
        classification,
        settled: classification.settles(),
    })
}

/// The payment's own key: whoever tells of it, it is one request.
fn payment_key(intent: &IntentRow, seen: &Observation) -> Result<KeyedRequest, Error> {
    let (amount, currency) = (seen.amount.amount_minor(), seen.amount.currency());
    let key = IdempotencyKey::parse(&format!("{}:{amount}:{currency}", intent.intent_id))
        .map_err(|_| Error::Inconsistent("a payment without a key"))?;
    Ok(KeyedRequest::new(
        format!("provider:{}", intent.provider),
        key,
        "observe",
        &seen.event_id,
    )?)
}

/// Money that arrived and did not settle, or settled what was withdrawn.
pub(crate) const fn needs_operator(classification: Classification) -> bool {
    match classification {
        Classification::Paid | Classification::Late => false,
        Classification::PaidAfterCancellation
        | Classification::Underpayment
        | Classification::Overpayment
        | Classification::CurrencyMismatch
        | Classification::Duplicate => true,
    }
}

/// The wire's word.
pub(crate) const fn classification_name(classification: Classification) -> &'static str {
    match classification {
        Classification::Paid => "paid",
        Classification::Late => "late",
        Classification::PaidAfterCancellation => "paid_after_cancellation",
        Classification::Underpayment => "underpayment",
        Classification::Overpayment => "overpayment",
        Classification::CurrencyMismatch => "currency_mismatch",
        Classification::Duplicate => "duplicate",
    }
}
