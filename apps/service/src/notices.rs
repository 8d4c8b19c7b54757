//! What operators are told about money.

use domain::{money::Money, order::Classification};
use serde_json::{Value, json};
use store::{OpenUnitOfWork, Store, StoreError, payments::IntentRow};

use crate::payments::observe_payment::classification_name;

/// Kind of a notice that somebody should look into.
pub(crate) const INCIDENT: &str = "incident";

/// One notice; the same key again tells nothing new.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Notice {
    dedupe_key: String,
    payload: Value,
}

impl Notice {
    /// Queues it as part of a unit of work; `false` when it was queued before.
    pub(crate) async fn insert_in(&self, work: &mut OpenUnitOfWork) -> Result<bool, StoreError> {
        store::notices::insert_in(work.conn(), INCIDENT, &self.dedupe_key, &self.payload).await
    }

    /// Queues it by itself.
    pub(crate) async fn insert(&self, store: &Store) -> Result<bool, StoreError> {
        let mut conn = store.pool().acquire().await.map_err(StoreError::from)?;
        store::notices::insert_in(&mut conn, INCIDENT, &self.dedupe_key, &self.payload).await
    }
}

/// Money that did not settle its order, or settled one that was withdrawn.
pub(crate) fn anomaly(intent: &IntentRow, amount: Money, classification: Classification) -> Notice {
    of_payment(intent, amount, classification_name(classification))
}

/// Money that cannot be, as of no amount.
pub(crate) fn rejected_payment(intent: &IntentRow, amount: Money) -> Notice {
    of_payment(intent, amount, "rejected")
}

fn of_payment(intent: &IntentRow, amount: Money, classification: &str) -> Notice {
    Notice {
        dedupe_key: format!("payment:{}:{classification}", intent.intent_id),
        payload: json!({
            "orderId": intent.order_id,
            "provider": intent.provider,
            "classification": classification,
            "currency": amount.currency(),
            "amountMinor": amount.amount_minor(),
        }),
    }
}

/// A payment that belongs to nothing we know.
pub(crate) fn unknown_payment(provider: &str, reference: &str) -> Notice {
    Notice {
        dedupe_key: format!("payment:{provider}:{reference}"),
        payload: json!({ "provider": provider, "reference": reference, "classification": "payment_not_found" }),
    }
}
