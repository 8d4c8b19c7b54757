//! What may be asked of an order. Each command carries its own time and every new id.

use crate::{
    ids::{CustomerId, IntentId, OrderId},
    money::{Currency, Money},
    order::Item,
    time::Timestamp,
};

/// A request to an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Asks for something. `subtotal − discount − wallet` is what a provider must bring; zero settles at once.
    Place {
        order_id: OrderId,
        customer_id: CustomerId,
        item: Item,
        currency: Currency,
        subtotal_minor: i64,
        discount_minor: i64,
        wallet_minor: i64,
        expires_at: Timestamp,
        at: Timestamp,
    },
    /// Asks a provider for the external part; makes the window longer when `window_until` is later and the order is no goods order.
    OpenIntent {
        intent_id: IntentId,
        provider: String,
        window_until: Option<Timestamp>,
        at: Timestamp,
    },
    /// A provider, a poll or a person says that money arrived.
    ObservePayment {
        intent_id: IntentId,
        provider: String,
        provider_event_id: String,
        amount: Money,
        at: Timestamp,
    },
    /// Withdraws an unpaid order. Repeating it on a cancelled order changes nothing.
    Cancel { at: Timestamp },
    /// Closes an unpaid order whose window is over.
    Expire { at: Timestamp },
    /// What was bought was provided.
    MarkFulfilled { at: Timestamp },
}
