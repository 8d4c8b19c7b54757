//! Facts of an order, as stored. A shape that has landed is never edited: it gets a new version and an upcaster.

use cqrs_es::DomainEvent;
use serde::{Deserialize, Serialize};

use crate::{
    goods::Product,
    ids::{CustomerId, EntitlementId, IntentId, OrderId, SubscriptionId},
    money::{Currency, Money},
    plan::Terms,
    time::Timestamp,
};

/// What an order does with a subscription.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// A new subscription.
    Purchase,
    /// More time on a subscription that exists.
    Extension,
}

/// What is bought.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Item {
    /// A period of a plan.
    Plan {
        /// New or longer.
        operation: Operation,
        /// Granted or extended when the order settles.
        entitlement_id: EntitlementId,
        /// The remote user it is for.
        subscription_id: SubscriptionId,
        /// As sold.
        terms: Terms,
    },
    /// Digital goods, delivered once.
    Goods {
        /// As sold.
        product: Product,
    },
}

/// How a payment relates to its order (spec/commerce 2.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Classification {
    /// Exact, inside the window: settles.
    Paid,
    /// Exact, after the window or after expiry: settles.
    Late,
    /// Exact, after the order was cancelled: settles, and operators are told.
    PaidAfterCancellation,
    /// Less than is owed: does not settle.
    Underpayment,
    /// More than is owed: does not settle.
    Overpayment,
    /// Another currency: does not settle.
    CurrencyMismatch,
    /// The order was settled already.
    Duplicate,
}

impl Item {
    /// Could be provided once it is paid for. Money is never taken for what no settlement could grant.
    pub fn is_sellable(&self) -> bool {
        match self {
            Self::Plan { terms, .. } => terms.are_valid(),
            Self::Goods { product } => product.is_sellable(),
        }
    }
}

impl Classification {
    /// A payment of this class pays its order.
    pub const fn settles(self) -> bool {
        match self {
            Self::Paid | Self::Late | Self::PaidAfterCancellation => true,
            Self::Underpayment | Self::Overpayment | Self::CurrencyMismatch | Self::Duplicate => false,
        }
    }
}

/// What happened to an order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
pub enum Event {
    /// It was asked for.
    #[serde(rename = "order.placed")]
    Placed {
        /// The order.
        order_id: OrderId,
        /// Who buys.
        customer_id: CustomerId,
        /// What is bought.
        item: Item,
        /// Of all its amounts.
        currency: Currency,
        /// Before the discount.
        subtotal_minor: i64,
        /// Taken off the subtotal.
        discount_minor: i64,
        /// Part that the customer's wallet brings.
        wallet_minor: i64,
        /// Part that a provider must bring, exactly.
        external_minor: i64,
        /// End of the time to pay.
        expires_at: Timestamp,
        /// When it happened.
        at: Timestamp,
    },
    /// The time to pay was made longer.
    #[serde(rename = "order.window_extended")]
    WindowExtended {
        /// End of the time to pay.
        expires_at: Timestamp,
        /// When it happened.
        at: Timestamp,
    },
    /// Money was asked for at a provider.
    #[serde(rename = "order.intent_opened")]
    IntentOpened {
        /// The request for money.
        intent_id: IntentId,
        /// Slug of the payment provider.
        provider: String,
        /// How much.
        amount: Money,
        /// When it happened.
        at: Timestamp,
    },
    /// A payment was seen. Says nothing about the order's state.
    #[serde(rename = "order.payment_observed")]
    PaymentObserved {
        /// The request for money.
        intent_id: IntentId,
        /// Slug of the payment provider.
        provider: String,
        /// The provider's own id of what it reports; with the intent it makes a payment known.
        provider_event_id: String,
        /// How much.
        amount: Money,
        /// What it means for the order.
        classification: Classification,
        /// When it happened.
        at: Timestamp,
    },
    /// It is paid for. `intent_id` is absent when nothing was to be paid.
    #[serde(rename = "order.paid")]
    Paid {
        /// The request for money.
        intent_id: Option<IntentId>,
        /// What settled it: the external and the wallet part together.
        paid_minor: i64,
        /// What it means for the order.
        classification: Classification,
        /// When it happened.
        at: Timestamp,
    },
    /// It was withdrawn before it was paid.
    #[serde(rename = "order.cancelled")]
    Cancelled {
        /// When it happened.
        at: Timestamp,
    },
    /// Its window closed before it was paid.
    #[serde(rename = "order.expired")]
    Expired {
        /// When it happened.
        at: Timestamp,
    },
    /// What was bought was provided.
    #[serde(rename = "order.fulfilled")]
    Fulfilled {
        /// When it happened.
        at: Timestamp,
    },
}

impl DomainEvent for Event {
    fn event_type(&self) -> String {
        match self {
            Self::Placed { .. } => "order.placed",
            Self::WindowExtended { .. } => "order.window_extended",
            Self::IntentOpened { .. } => "order.intent_opened",
            Self::PaymentObserved { .. } => "order.payment_observed",
            Self::Paid { .. } => "order.paid",
            Self::Cancelled { .. } => "order.cancelled",
            Self::Expired { .. } => "order.expired",
            Self::Fulfilled { .. } => "order.fulfilled",
        }
        .to_owned()
    }

    fn event_version(&self) -> String {
        "1".to_owned()
    }
}
