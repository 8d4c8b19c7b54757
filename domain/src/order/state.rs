//! The folded state of an order.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    ids::{CustomerId, IntentId, OrderId},
    money::{Currency, Money},
    order::{Classification, Item},
    time::Timestamp,
};

/// How far an order came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// No event yet.
    #[default]
    Absent,
    Pending,
    Paid,
    Fulfilled,
    Cancelled,
    Expired,
}

/// An intent that the order opened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Intent {
    pub provider: String,
    pub amount: Money,
}

/// One order, as its events tell it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    pub state: State,
    pub order_id: OrderId,
    pub customer_id: CustomerId,
    pub item: Option<Item>,
    pub currency: Option<Currency>,
    pub subtotal_minor: i64,
    pub discount_minor: i64,
    pub wallet_minor: i64,
    pub external_minor: i64,
    pub paid_minor: i64,
    pub expires_at: Option<Timestamp>,
    pub created_at: Option<Timestamp>,
    pub paid_at: Option<Timestamp>,
    pub intents: BTreeMap<IntentId, Intent>,
    /// Payments seen, by intent and provider's event id.
    pub observed: BTreeMap<IntentId, Vec<(String, Classification)>>,
}
