//! Placing an order: the one place where its amounts are judged.

use super::{Classification, Error, Event, Item, Order, State};
use crate::{
    ids::{CustomerId, OrderId},
    money::{Currency, MAX_MINOR},
    time::Timestamp,
};

/// What is asked to be paid, and how. All parts are minor units of one currency.
#[derive(Clone, Copy)]
pub(super) struct Amounts {
    pub(super) currency: Currency,
    pub(super) subtotal_minor: i64,
    pub(super) discount_minor: i64,
    pub(super) wallet_minor: i64,
}

/// When it was asked, and until when it may be paid.
#[derive(Clone, Copy)]
pub(super) struct Window {
    pub(super) at: Timestamp,
    pub(super) expires_at: Timestamp,
}

impl Amounts {
    /// What a provider must bring: `subtotal − discount − wallet`; `None` when the parts do not add up.
    fn external_minor(self) -> Option<i64> {
        let whole =
            (0..=MAX_MINOR).contains(&self.subtotal_minor) && self.discount_minor >= 0 && self.wallet_minor >= 0;
        if !whole {
            return None;
        }
        let due = self.subtotal_minor.checked_sub(self.discount_minor)?;
        due.checked_sub(self.wallet_minor).filter(|external| *external >= 0)
    }
}

pub(super) fn decide(
    order: &Order,
    order_id: OrderId,
    customer_id: CustomerId,
    item: Item,
    amounts: Amounts,
    window: Window,
) -> Result<Vec<Event>, Error> {
    if order.state != State::Absent {
        // Times are not compared: a repeat comes later than the request that it repeats.
        let same = order.order_id == order_id
            && order.customer_id == customer_id
            && order.item.as_ref() == Some(&item)
            && order.currency == Some(amounts.currency)
            && order.subtotal_minor == amounts.subtotal_minor
            && order.discount_minor == amounts.discount_minor
            && order.wallet_minor == amounts.wallet_minor;
        return if same {
            Ok(Vec::new())
        } else {
            Err(Error::AlreadyPlaced)
        };
    }
    let external_minor = amounts.external_minor().ok_or(Error::InvalidAmounts)?;
    if !item.is_sellable() {
        return Err(Error::InvalidItem);
    }
    let Amounts {
        currency,
        subtotal_minor,
        discount_minor,
        wallet_minor,
    } = amounts;
    let Window { at, expires_at } = window;
    let placed = Event::Placed {
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
    };
    if external_minor > 0 {
        return Ok(vec![placed]);
    }
    let born_paid = Event::Paid {
        intent_id: None,
        paid_minor: wallet_minor,
        classification: Classification::Paid,
        at,
    };
    Ok(vec![placed, born_paid])
}
