//! What an order's events announce to others.

use super::{Event, Item, Order};
use crate::topics::{Message, OrderPaid};

pub(super) fn announce(order: &Order, event: &Event, event_id: &str) -> Vec<Message> {
    match event {
        Event::Paid { at, .. } => {
            let entitlement_id = match &order.item {
                Some(Item::Plan { entitlement_id, .. }) => Some(*entitlement_id),
                Some(Item::Goods { .. }) | None => None,
            };
            vec![Message::OrderPaid(OrderPaid {
                event_id: event_id.to_owned(),
                occurred_at: *at,
                order_id: order.order_id,
                entitlement_id,
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
