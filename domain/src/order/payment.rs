//! A payment that was seen: what it means for the order. Only an exact amount settles; everything else stays visible.

use super::{Classification, Error, Event, Order, State};
use crate::{ids::IntentId, money::Money, time::Timestamp};

/// A payment, as a provider, a poll or a person reports it.
pub(super) struct Seen {
    pub(super) intent_id: IntentId,
    pub(super) provider: String,
    pub(super) provider_event_id: String,
    pub(super) amount: Money,
    pub(super) at: Timestamp,
}

pub(super) fn decide(order: &Order, seen: Seen) -> Result<Vec<Event>, Error> {
    if order
        .intents
        .get(&seen.intent_id)
        .is_none_or(|intent| intent.provider != seen.provider)
    {
        return Err(Error::UnknownIntent);
    }
    if seen.amount.amount_minor() <= 0 {
        return Err(Error::InvalidPayment);
    }
    if order.has_observed(seen.intent_id, &seen.provider_event_id) {
        return Ok(Vec::new());
    }
    let classification = classify(order, &seen);
    let Seen {
        intent_id,
        provider,
        provider_event_id,
        amount,
        at,
    } = seen;
    let mut events = vec![Event::PaymentObserved {
        intent_id,
        provider,
        provider_event_id,
        amount,
        classification,
        at,
    }];
    if classification.settles() {
        let paid_minor = order.external_minor.saturating_add(order.wallet_minor);
        events.push(Event::Paid {
            intent_id: Some(intent_id),
            paid_minor,
            classification,
            at,
        });
    }
    Ok(events)
}

/// Currency stands before everything else: an amount of another currency cannot even be called a duplicate.
fn classify(order: &Order, seen: &Seen) -> Classification {
    if order.currency != Some(seen.amount.currency()) {
        return Classification::CurrencyMismatch;
    }
    if matches!(order.state, State::Paid | State::Fulfilled) {
        return Classification::Duplicate;
    }
    match seen.amount.amount_minor().cmp(&order.external_minor) {
        std::cmp::Ordering::Less => Classification::Underpayment,
        std::cmp::Ordering::Greater => Classification::Overpayment,
        std::cmp::Ordering::Equal => settling(order, seen.at),
    }
}

fn settling(order: &Order, at: Timestamp) -> Classification {
    match order.state {
        State::Cancelled => Classification::PaidAfterCancellation,
        State::Expired => Classification::Late,
        State::Absent | State::Pending | State::Paid | State::Fulfilled => {
            if order.in_window(at) {
                Classification::Paid
            } else {
                Classification::Late
            }
        }
    }
}
