//! The folded state of an order.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    ids::{CustomerId, IntentId, OrderId},
    money::{Currency, Money},
    order::{Classification, Event, Item},
    time::Timestamp,
};

/// How far an order came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// No event yet.
    #[default]
    Absent,
    /// Waits for its payment.
    Pending,
    /// Paid for; what was bought is on its way.
    Paid,
    /// Paid for and provided.
    Fulfilled,
    /// Withdrawn before it was paid. A payment may still settle it.
    Cancelled,
    /// Its window closed before it was paid. A payment may still settle it.
    Expired,
}

/// An intent that the order opened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Intent {
    /// Slug of the provider that was asked.
    pub provider: String,
    /// What was asked for.
    pub amount: Money,
}

/// One order, as its events tell it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    /// How far it came.
    pub state: State,
    /// Its id; nil before it was placed.
    pub order_id: OrderId,
    /// Who buys.
    pub customer_id: CustomerId,
    /// What is bought, and so what a settlement must grant or owe.
    pub item: Option<Item>,
    /// Of all its amounts.
    pub currency: Option<Currency>,
    /// Before the discount.
    pub subtotal_minor: i64,
    /// Taken off the subtotal.
    pub discount_minor: i64,
    /// Part that the customer's wallet brings.
    pub wallet_minor: i64,
    /// Part that a provider must bring, exactly.
    pub external_minor: i64,
    /// What settled it: the external and the wallet part together; 0 until then.
    pub paid_minor: i64,
    /// End of the time to pay.
    pub expires_at: Option<Timestamp>,
    /// When it was placed.
    pub created_at: Option<Timestamp>,
    /// When it settled.
    pub paid_at: Option<Timestamp>,
    /// Requests for money that it opened.
    pub intents: BTreeMap<IntentId, Intent>,
    /// Payments seen, by intent and provider's event id.
    pub observed: BTreeMap<IntentId, Vec<(String, Classification)>>,
}

impl Order {
    /// The external part as money; `None` before the order was placed.
    pub fn external(&self) -> Option<Money> {
        Money::new(self.external_minor, self.currency?).ok()
    }

    /// A payment may be started, and counts as in time, strictly before the end of the window.
    pub fn in_window(&self, at: Timestamp) -> bool {
        self.expires_at.is_some_and(|expires_at| at < expires_at)
    }

    /// This payment of this intent is known already.
    pub fn has_observed(&self, intent_id: IntentId, provider_event_id: &str) -> bool {
        self.observed
            .get(&intent_id)
            .is_some_and(|seen| seen.iter().any(|(id, _)| id == provider_event_id))
    }

    /// Takes a fact as it is: rules were kept when it was decided.
    pub(super) fn evolve(&mut self, event: Event) {
        match event {
            Event::Placed {
                order_id,
                customer_id,
                item,
                currency,
                subtotal_minor,
                discount_minor,
                wallet_minor,
                external_minor,
                expires_at,
                at,
            } => {
                *self = Self {
                    state: State::Pending,
                    order_id,
                    customer_id,
                    item: Some(item),
                    currency: Some(currency),
                    subtotal_minor,
                    discount_minor,
                    wallet_minor,
                    external_minor,
                    expires_at: Some(expires_at),
                    created_at: Some(at),
                    ..Self::default()
                };
            }
            Event::WindowExtended { expires_at, .. } => self.expires_at = Some(expires_at),
            Event::IntentOpened {
                intent_id,
                provider,
                amount,
                ..
            } => {
                self.intents.insert(intent_id, Intent { provider, amount });
            }
            Event::PaymentObserved {
                intent_id,
                provider_event_id,
                classification,
                ..
            } => {
                self.observed
                    .entry(intent_id)
                    .or_default()
                    .push((provider_event_id, classification));
            }
            Event::Paid { paid_minor, at, .. } => {
                self.state = State::Paid;
                self.paid_minor = paid_minor;
                self.paid_at = Some(at);
            }
            Event::Cancelled { .. } => self.state = State::Cancelled,
            Event::Expired { .. } => self.state = State::Expired,
            Event::Fulfilled { .. } => self.state = State::Fulfilled,
        }
    }
}
