//! Facts of a delivery, as stored.

use cqrs_es::DomainEvent;
use serde::{Deserialize, Serialize};

use crate::{
    goods::Product,
    ids::{CustomerId, OrderId},
    money::Money,
    time::Timestamp,
};

/// Classes of a provider's answer (contracts 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureClass {
    /// Surely not executed, try again later.
    Retryable,
    /// Surely not executed: the provider's balance is too low.
    ProviderBalance,
    /// Surely not executed: the provider refuses us or is not configured.
    ProviderUnavailable,
    /// Will never be executed.
    Permanent,
    /// Will never be executed: nobody of that name.
    RecipientInvalid,
    /// Nobody knows whether it was executed.
    Ambiguous,
}

/// What happened to a delivery.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
pub enum Event {
    #[serde(rename = "delivery.owed")]
    Owed {
        order_id: OrderId,
        customer_id: CustomerId,
        product: Product,
        price: Money,
        at: Timestamp,
    },
    /// Committed before the provider is called. Nobody touches the delivery before `deadline`.
    #[serde(rename = "delivery.submission_started")]
    SubmissionStarted {
        attempt: i32,
        deadline: Timestamp,
        at: Timestamp,
    },
    #[serde(rename = "delivery.accepted")]
    Accepted {
        attempt: i32,
        reference: String,
        poll_at: Timestamp,
        at: Timestamp,
    },
    #[serde(rename = "delivery.delivered")]
    Delivered { attempt: i32, at: Timestamp },
    #[serde(rename = "delivery.attempt_failed")]
    AttemptFailed {
        attempt: i32,
        class: FailureClass,
        code: String,
        retry_at: Option<Timestamp>,
        at: Timestamp,
    },
    /// Only a person can tell what happened.
    #[serde(rename = "delivery.parked")]
    Parked { code: String, at: Timestamp },
    #[serde(rename = "delivery.resolved")]
    Resolved {
        delivered: bool,
        reason: String,
        at: Timestamp,
    },
    #[serde(rename = "delivery.failed")]
    Failed { code: String, at: Timestamp },
    #[serde(rename = "delivery.cancelled")]
    Cancelled { reason: String, at: Timestamp },
    /// The visible debt of an end without goods.
    #[serde(rename = "delivery.refund_owed")]
    RefundOwed { amount: Money, at: Timestamp },
}

impl DomainEvent for Event {
    fn event_type(&self) -> String {
        match self {
            Self::Owed { .. } => "delivery.owed",
            Self::SubmissionStarted { .. } => "delivery.submission_started",
            Self::Accepted { .. } => "delivery.accepted",
            Self::Delivered { .. } => "delivery.delivered",
            Self::AttemptFailed { .. } => "delivery.attempt_failed",
            Self::Parked { .. } => "delivery.parked",
            Self::Resolved { .. } => "delivery.resolved",
            Self::Failed { .. } => "delivery.failed",
            Self::Cancelled { .. } => "delivery.cancelled",
            Self::RefundOwed { .. } => "delivery.refund_owed",
        }
        .to_owned()
    }

    fn event_version(&self) -> String {
        "1".to_owned()
    }
}
