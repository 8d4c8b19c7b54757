//! Paid periods: the first one and those that follow. All calendar arithmetic is checked.

use super::{Entitlement, Error, Event, OpenOperation, OperationKind, changes::take_effect};
use crate::{
    ids::{CustomerId, EntitlementId, OrderId, SubscriptionId},
    plan::{Limits, Terms},
    time::{Timestamp, plus_seconds, to_stored_precision, within_calendar},
};

/// Whose right it is, to which remote user.
#[derive(Clone, Copy)]
pub(super) struct Owner {
    pub(super) entitlement: EntitlementId,
    pub(super) subscription: SubscriptionId,
    pub(super) customer: CustomerId,
}

/// A period as it was paid for.
pub(super) struct Period {
    order_id: OrderId,
    terms: Terms,
    effective_at: Option<Timestamp>,
    at: Timestamp,
}

impl Period {
    pub(super) fn new(order_id: OrderId, terms: Terms, effective_at: Option<Timestamp>, at: Timestamp) -> Self {
        let effective_at = effective_at.map(to_stored_precision);
        Self {
            order_id,
            terms,
            effective_at,
            at: to_stored_precision(at),
        }
    }

    fn end_from(&self, base: Timestamp) -> Result<Timestamp, Error> {
        if !self.terms.are_valid() {
            return Err(Error::InvalidTerms);
        }
        let ends_at = plus_seconds(base, self.terms.duration_seconds).ok_or(Error::EndOutOfRange)?;
        let shown = plus_seconds(ends_at, self.terms.grace_seconds).ok_or(Error::EndOutOfRange)?;
        if within_calendar(shown) {
            Ok(ends_at)
        } else {
            Err(Error::EndOutOfRange)
        }
    }

    fn opened(&self, kind: OperationKind, version: i64, operation: OpenOperation) -> Event {
        Event::OperationOpened {
            operation_id: operation.operation_id,
            operation: kind,
            version,
            order_id: Some(self.order_id),
            idempotency_key: operation.idempotency_key,
            correlation_id: operation.correlation_id,
            effective_at: self.effective_at,
            at: self.at,
        }
    }
}

/// A period that takes effect later also starts later: the customer gets all of what was paid for.
pub(super) fn first(
    entitlement: &Entitlement,
    owner: Owner,
    period: Period,
    operation: OpenOperation,
) -> Result<Vec<Event>, Error> {
    let Owner {
        entitlement: entitlement_id,
        subscription: subscription_id,
        customer: customer_id,
    } = owner;
    if entitlement.is_granted() {
        let same = entitlement.entitlement_id == entitlement_id
            && entitlement.subscription_id == subscription_id
            && entitlement.customer_id == customer_id
            && entitlement.first_order_id == Some(period.order_id);
        return if same {
            Ok(Vec::new())
        } else {
            Err(Error::AlreadyGranted)
        };
    }
    let starts_at = period
        .effective_at
        .map_or(period.at, |effective_at| effective_at.max(period.at));
    let ends_at = period.end_from(starts_at)?;
    let version = 1;
    let opened = period.opened(OperationKind::Create, version, operation);
    let granted = Event::Granted {
        entitlement_id,
        subscription_id,
        customer_id,
        order_id: period.order_id,
        terms: period.terms,
        starts_at,
        ends_at,
        effective_at: period.effective_at,
        version,
        at: period.at,
    };
    Ok(vec![granted, opened])
}

/// A further period begins where the current one ends, or now when that is past; in a pause now is the moment it began, so that its end
/// gives back all that was paid for. What an operator set stays: the pause, a lock, and limits and squads (see [`in_force`]).
pub(super) fn further(
    entitlement: &Entitlement,
    period: Period,
    operation: OpenOperation,
) -> Result<Vec<Event>, Error> {
    if entitlement.orders.contains(&period.order_id) {
        return Ok(Vec::new());
    }
    if entitlement.operations.contains_key(&operation.operation_id) {
        return Err(Error::OperationConflict);
    }
    let mut entitlement = entitlement.clone();
    let mut events = take_effect(&mut entitlement, period.at);
    let now = entitlement.paused_at.unwrap_or(period.at);
    let base = entitlement.ends_at.map_or(now, |ends_at| ends_at.max(now));
    let ends_at = period.end_from(base)?;
    let version = entitlement
        .desired_version()
        .checked_add(1)
        .ok_or(Error::EndOutOfRange)?;
    let limits = in_force(&entitlement, &period.terms);
    let opened = period.opened(OperationKind::Extend, version, operation);
    let extended = Event::Extended {
        order_id: period.order_id,
        terms: period.terms,
        ends_at,
        effective_at: period.effective_at,
        reset_traffic: true,
        limits,
        version,
        at: period.at,
    };
    events.extend([extended, opened]);
    Ok(events)
}

/// The same plan again keeps each limit that an operator set: one that is not what was last sold. Another plan is another thing: all of it
/// is as sold.
fn in_force(entitlement: &Entitlement, sold: &Terms) -> Limits {
    let before = entitlement
        .terms
        .as_ref()
        .filter(|terms| terms.plan_code == sold.plan_code);
    let Some(before) = before else {
        return sold.limits.clone();
    };
    let present = entitlement.limits();
    Limits {
        traffic_bytes: kept(
            &before.limits.traffic_bytes,
            &present.traffic_bytes,
            &sold.limits.traffic_bytes,
        ),
        devices: kept(&before.limits.devices, &present.devices, &sold.limits.devices),
        squads: kept(&before.limits.squads, &present.squads, &sold.limits.squads),
    }
}

fn kept<T: Clone + PartialEq>(before: &T, present: &T, sold: &T) -> T {
    if before == present {
        sold.clone()
    } else {
        present.clone()
    }
}
