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
        /// End of the time to pay.
        expires_at: Timestamp,
        /// When it is asked; for a payment, when it was made or seen.
        at: Timestamp,
    },
    /// Asks a provider for the external part; makes the window longer when `window_until` is later and the order is no goods order.
    OpenIntent {
        /// The request for money.
        intent_id: IntentId,
        /// Slug of the payment provider.
        provider: String,
        /// Until when this provider needs the order to stay payable.
        window_until: Option<Timestamp>,
        /// When it is asked; for a payment, when it was made or seen.
        at: Timestamp,
    },
    /// A provider, a poll or a person says that money arrived.
    ObservePayment {
        /// The request for money.
        intent_id: IntentId,
        /// Slug of the payment provider.
        provider: String,
        /// The provider's own id of what it reports; with the intent it makes a payment known.
        provider_event_id: String,
        /// How much arrived.
        amount: Money,
        /// When it is asked; for a payment, when it was made or seen.
        at: Timestamp,
    },
    /// Withdraws an unpaid order. Repeating it on a cancelled order changes nothing.
    Cancel {
        /// When it is asked; for a payment, when it was made or seen.
        at: Timestamp,
    },
    /// Closes an unpaid order whose window is over.
    Expire {
        /// When it is asked; for a payment, when it was made or seen.
        at: Timestamp,
    },
    /// What was bought was provided.
    MarkFulfilled {
        /// When it is asked; for a payment, when it was made or seen.
        at: Timestamp,
    },
}
