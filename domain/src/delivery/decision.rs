//! What a person decides about a delivery. An end without goods always says what is owed back.

use super::{Delivery, Error, Event, State, Verdict};
use crate::time::Timestamp;

/// The same verdict again changes nothing; another one is refused.
pub(super) fn resolve(
    delivery: &Delivery,
    verdict: Verdict,
    reason: String,
    at: Timestamp,
) -> Result<Vec<Event>, Error> {
    let delivered = match verdict {
        Verdict::Delivered => true,
        Verdict::NotDelivered => false,
    };
    if delivery.resolved == Some(delivered) {
        return Ok(Vec::new());
    }
    if !matches!(delivery.state, State::NeedsReview { .. }) {
        return Err(Error::NotParked);
    }
    let mut events = vec![Event::Resolved { delivered, reason, at }];
    if !delivered {
        events.extend(delivery.refund_due(at));
    }
    Ok(events)
}

/// Only where surely nothing was bought. A parked delivery is resolved instead.
pub(super) fn cancel(delivery: &Delivery, reason: String, at: Timestamp) -> Result<Vec<Event>, Error> {
    match delivery.state {
        State::Owed | State::RetryWait { .. } => {
            let mut events = vec![Event::Cancelled { reason, at }];
            events.extend(delivery.refund_due(at));
            Ok(events)
        }
        State::Cancelled => Ok(Vec::new()),
        State::Absent
        | State::Submitting { .. }
        | State::Accepted { .. }
        | State::NeedsReview { .. }
        | State::Delivered
        | State::Failed { .. } => Err(Error::NotCancellable),
    }
}
