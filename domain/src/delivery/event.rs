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
    /// A settled order owes goods.
    #[serde(rename = "delivery.owed")]
    Owed {
        /// The order.
        order_id: OrderId,
        /// Who buys.
        customer_id: CustomerId,
        /// What is owed.
        product: Product,
        /// What the customer paid.
        price: Money,
        /// When it happened.
        at: Timestamp,
    },
    /// Committed before the provider is called. Nobody touches the delivery before `deadline`.
    #[serde(rename = "delivery.submission_started")]
    SubmissionStarted {
        /// Number of the submission, from 1.
        attempt: i32,
        /// From then on, without an outcome, it counts as abandoned.
        deadline: Timestamp,
        /// When it happened.
        at: Timestamp,
    },
    /// The provider took it: from now on it is only asked for.
    #[serde(rename = "delivery.accepted")]
    Accepted {
        /// Number of the submission, from 1.
        attempt: i32,
        /// The provider's name for it.
        reference: String,
        /// When to ask for it first.
        poll_at: Timestamp,
        /// When it happened.
        at: Timestamp,
    },
    /// The goods arrived.
    #[serde(rename = "delivery.delivered")]
    Delivered {
        /// Number of the submission, from 1.
        attempt: i32,
        /// When it happened.
        at: Timestamp,
    },
    /// A submission ended without goods.
    #[serde(rename = "delivery.attempt_failed")]
    AttemptFailed {
        /// Number of the submission, from 1.
        attempt: i32,
        /// How sure it is that nothing was executed.
        class: FailureClass,
        /// Why, as a stable machine value.
        code: String,
        /// When the next submission is due; absent when there is none.
        retry_at: Option<Timestamp>,
        /// When it happened.
        at: Timestamp,
    },
    /// Only a person can tell what happened.
    #[serde(rename = "delivery.parked")]
    Parked {
        /// Why, as a stable machine value.
        code: String,
        /// When it happened.
        at: Timestamp,
    },
    /// A person decided a parked delivery.
    #[serde(rename = "delivery.resolved")]
    Resolved {
        /// Whether the goods arrived.
        delivered: bool,
        /// Why, in the words of the person who decided.
        reason: String,
        /// When it happened.
        at: Timestamp,
    },
    /// It ended without goods.
    #[serde(rename = "delivery.failed")]
    Failed {
        /// Why, as a stable machine value.
        code: String,
        /// When it happened.
        at: Timestamp,
    },
    /// A person withdrew it before anything was bought.
    #[serde(rename = "delivery.cancelled")]
    Cancelled {
        /// Why, in the words of the person who decided.
        reason: String,
        /// When it happened.
        at: Timestamp,
    },
    /// The visible debt of an end without goods.
    #[serde(rename = "delivery.refund_owed")]
    RefundOwed {
        /// What is owed back.
        amount: Money,
        /// When it happened.
        at: Timestamp,
    },
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
