//! What a delivery's events announce to others.

use super::Event;
use crate::topics::{DeliveryOwed, Message};

pub(super) fn announce(event: &Event) -> Vec<Message> {
    match event {
        Event::Owed { order_id, .. } => vec![Message::DeliveryOwed(DeliveryOwed { order_id: *order_id })],
        Event::SubmissionStarted { .. }
        | Event::Accepted { .. }
        | Event::Delivered { .. }
        | Event::AttemptFailed { .. }
        | Event::Parked { .. }
        | Event::Resolved { .. }
        | Event::Failed { .. }
        | Event::Cancelled { .. }
        | Event::RefundOwed { .. } => Vec::new(),
    }
}
