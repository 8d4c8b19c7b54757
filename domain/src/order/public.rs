//! What an order's events announce to others.

use super::{Event, Item, Operation, Order};
use crate::topics::{Bought, Message, OrderPaid};

pub(super) fn announce(order: &Order, event: &Event, event_id: &str) -> Vec<Message> {
    match event {
        Event::Paid { paid_minor, at, .. } => {
            let (entitlement_id, operation) = match &order.item {
                Some(Item::Plan {
                    entitlement_id,
                    operation,
                    ..
                }) => (Some(*entitlement_id), Some(bought(*operation))),
                Some(Item::Goods { .. }) => (None, Some(Bought::Goods)),
                None => (None, None),
            };
            vec![Message::OrderPaid(OrderPaid {
                event_id: event_id.to_owned(),
                occurred_at: *at,
                order_id: order.order_id,
                entitlement_id,
                operation,
                currency: order.currency,
                amount_minor: Some(*paid_minor),
            })]
        }
        Event::Placed { .. }
        | Event::WindowExtended { .. }
        | Event::IntentOpened { .. }
        | Event::PaymentObserved { .. }
        | Event::Cancelled { .. }
        | Event::Expired { .. }
        | Event::Fulfilled { .. } => Vec::new(),
    }
}

const fn bought(operation: Operation) -> Bought {
    match operation {
        Operation::Purchase => Bought::Purchase,
        Operation::Extension => Bought::Extension,
    }
}
