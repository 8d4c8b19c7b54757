//! A person's decision about a manual payment: one per payment, and an approval settles like any other money.

use domain::{
    ids::{EntitlementId, OperationId, OrderId},
    time::Timestamp,
};
use serde::{Deserialize, Serialize};
use serde_json::json;
use store::{
    KeyedRequest, OpenUnitOfWork, StoreError, UnitOfWork,
    audit::{self, Category, Target},
    payments::{self, DecisionRow, IntentRow, NewDecision},
};
use uuid::Uuid;

use super::{
    complete_intent::amount_of,
    observe_payment::{Observation, needs_operator, observe_into},
};
use crate::{
    Caller, Done, Error, Refusal, Service,
    answers::{self, Turn},
    notices,
    retry::retry_on_conflict,
    settlement,
};

/// Slug of the provider that is a person.
const MANUAL: &str = "manual";
/// The rule that there is one decision.
const ONE_DECISION: &str = "manual_decisions_intent_key";

/// What the person decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ManualDecision {
    /// The payment.
    pub intent_id: Uuid,
    /// The money is there, or it is not.
    pub approved: bool,
    /// Who decided.
    pub operator_id: String,
    /// Why.
    pub reason: String,
}

/// The decision that holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DecisionView {
    /// The decision.
    pub id: Uuid,
    /// `approved` or `rejected`.
    pub decision: String,
    /// When it was made.
    pub occurred_at: Timestamp,
}

/// Everything of one decision that must stay the same when it runs again.
struct Attempt<'a> {
    request: &'a ManualDecision,
    intent: IntentRow,
    decision_id: Uuid,
    operation_id: OperationId,
    at: Timestamp,
}

impl Service {
    /// Decides about a manual payment. The same decision again is the first one; another one is refused. A rejection changes neither
    /// the payment nor the order: both stay open until they expire.
    ///
    /// # Errors
    /// [`Error::Refused`] (`payment_not_found`, `manual_decision_rejected`), [`Error::KeyReused`], or a fault of the store.
    pub async fn manual_decision(
        &self,
        caller: &Caller,
        key: &KeyedRequest,
        request: &ManualDecision,
    ) -> Result<Done<DecisionView>, Error> {
        let intent = payments::intent(self.store.pool(), request.intent_id).await?;
        let attempt = Attempt {
            request,
            intent: intent.ok_or_else(super::reconcile_payment::payment_not_found)?,
            decision_id: self.ids.next(),
            operation_id: self.ids.next().into(),
            at: self.clock.now(),
        };
        let caller = caller.clone().because(&request.reason);
        let done = retry_on_conflict(&*self.ids, || self.decide_once(&caller, key, &attempt)).await?;
        if request.approved {
            self.record_status(&attempt.intent, ports::payments::Status::Succeeded)
                .await?;
        }
        Ok(done)
    }

    async fn decide_once(
        &self,
        caller: &Caller,
        key: &KeyedRequest,
        attempt: &Attempt<'_>,
    ) -> Result<Done<DecisionView>, Error> {
        let order_id = OrderId::new(attempt.intent.order_id);
        let streams = settlement::streams(order_id, attempt.intent.entitlement_id.map(EntitlementId::new));
        let loaded = self
            .store
            .load_keyed(key, &streams, caller.metadata(attempt.at))
            .await?;
        let mut work = match answers::turn(loaded)? {
            Turn::Answered(done) => return Ok(done),
            Turn::Fresh(work) => *work,
        };
        if attempt.intent.provider != MANUAL {
            return answers::refuse(work, key, rejected("only a manual payment is decided by a person")).await;
        }
        let intent_id = attempt.request.intent_id;
        let known = work
            .read(async |conn| payments::manual_decision_in(conn, intent_id).await)
            .await?;
        let wanted = decision_name(attempt.request.approved);
        match known {
            Some(known) if known.decision == wanted => {
                let value = view(known);
                work.answer(key, answers::answer(200, &value)?);
                work.commit().await?;
                Ok(Done {
                    value,
                    position: None,
                    repeated: true,
                })
            }
            Some(_) => answers::refuse(work, key, rejected("the payment was decided otherwise")).await,
            None => decide(work, caller, key, attempt).await,
        }
    }
}

async fn decide(
    mut work: UnitOfWork,
    caller: &Caller,
    key: &KeyedRequest,
    attempt: &Attempt<'_>,
) -> Result<Done<DecisionView>, Error> {
    let mut anomaly = None;
    if attempt.request.approved {
        let seen = Observation {
            event_id: format!("manual:{}", attempt.decision_id),
            amount: amount_of(&attempt.intent)?,
            at: attempt.at,
        };
        let settlement = observe_into(&mut work, &attempt.intent, &seen, attempt.operation_id, caller)?;
        if needs_operator(settlement.classification) {
            anomaly = Some(notices::anomaly(
                &attempt.intent,
                seen.amount,
                settlement.classification,
            ));
        }
    }
    let value = view(DecisionRow {
        decision_id: attempt.decision_id,
        decision: decision_name(attempt.request.approved).to_owned(),
        decided_at: attempt.at,
    });
    let mut work = work.begin().await?;
    let row = NewDecision {
        decision_id: attempt.decision_id,
        intent_id: attempt.request.intent_id,
        approved: attempt.request.approved,
        operator_id: &attempt.request.operator_id,
        reason: &attempt.request.reason,
        at: attempt.at,
    };
    payments::insert_decision_in(work.conn(), row)
        .await
        .map_err(|error| match error {
            // Somebody decided meanwhile: look again.
            StoreError::Constraint { name } if name == ONE_DECISION => StoreError::Conflict,
            error => error,
        })?;
    if let Some(notice) = anomaly {
        notice.insert_in(&mut work).await?;
    }
    audit_in(&mut work, caller, attempt, &value.decision).await?;
    work.answer(key, answers::answer(200, &value)?);
    let committed = work.commit().await?;
    Ok(Done {
        value,
        position: committed.position,
        repeated: false,
    })
}

async fn audit_in(
    work: &mut OpenUnitOfWork,
    caller: &Caller,
    attempt: &Attempt<'_>,
    decision: &str,
) -> Result<(), StoreError> {
    let facts = json!({
        "decision": decision, "decisionId": attempt.decision_id, "orderId": attempt.intent.order_id,
        "operatorId": attempt.request.operator_id,
    });
    let id = attempt.request.intent_id.to_string();
    let target = Target {
        kind: "payment",
        id: &id,
    };
    let record = caller.audit("panel.payment.decided", Category::Financial, target, facts, attempt.at);
    audit::record_in(work.conn(), record).await
}

fn view(row: DecisionRow) -> DecisionView {
    DecisionView {
        id: row.decision_id,
        decision: row.decision,
        occurred_at: row.decided_at,
    }
}

const fn decision_name(approved: bool) -> &'static str {
    if approved { "approved" } else { "rejected" }
}

const fn rejected(detail: &'static str) -> Refusal {
    Refusal::new(422, "manual_decision_rejected", detail)
}
