//! Changes that operators ask for: decided, planned for later, brought into effect.
//!
//! A planned change has no version and is in no desired state: it gets its version, and its place among the others, when its moment has
//! come. So whatever is bought or asked meanwhile neither contains nor loses it.

use super::{Asked, Entitlement, Error, Event, OpenOperation, OperationState, Planned, asked::limited};
use crate::{
    ids::OperationId,
    time::{Timestamp, plus_seconds, to_stored_precision, within_calendar},
};

/// Most changes of one entitlement that may be planned at a time.
const MAX_PLANNED: usize = 64;

/// A change as it is asked for.
pub(super) struct Wish {
    pub(super) asked: Asked,
    pub(super) effective_at: Option<Timestamp>,
    pub(super) operation: OpenOperation,
    pub(super) at: Timestamp,
}

/// The change now, or a plan of it, and its operation. A repeat of the same key leads to nothing.
pub(super) fn change(entitlement: &Entitlement, wish: Wish) -> Result<Vec<Event>, Error> {
    let (asked, at) = (wish.asked.normalised(), to_stored_precision(wish.at));
    let effective_at = wish.effective_at.map(to_stored_precision);
    if let Some((operation_id, earlier)) = with_key(entitlement, &wish.operation.idempotency_key) {
        let planned = effective_at.filter(|effective_at| *effective_at > earlier.opened_at);
        let same = entitlement
            .asked_by(operation_id)
            .is_some_and(|before| asked.repeats(before))
            && planned == earlier.planned_for;
        return if same {
            Ok(Vec::new())
        } else {
            Err(Error::OperationConflict)
        };
    }
    if entitlement.operations.contains_key(&wish.operation.operation_id) {
        return Err(Error::OperationConflict);
    }
    if !asked.is_valid() {
        return Err(Error::InvalidTerms);
    }
    let mut state = entitlement.clone();
    let mut events = take_effect(&mut state, at);
    match effective_at.filter(|effective_at| *effective_at > at) {
        Some(later) => events.extend(planned(&state, asked, later, wish.operation, at)?),
        None => events.extend(at_once(&mut state, &asked, wish.operation, at)?),
    }
    Ok(events)
}

fn with_key<'a>(entitlement: &'a Entitlement, key: &str) -> Option<(OperationId, &'a OperationState)> {
    let mut operations = entitlement.operations.iter();
    operations
        .find(|(_, operation)| operation.idempotency_key == key)
        .map(|(id, operation)| (*id, operation))
}

fn planned(
    state: &Entitlement,
    asked: Asked,
    effective_at: Timestamp,
    operation: OpenOperation,
    at: Timestamp,
) -> Result<Vec<Event>, Error> {
    if !asked.may_be_planned() || !within_calendar(effective_at) {
        return Err(Error::NotPlannable);
    }
    if state.planned.len() >= MAX_PLANNED {
        return Err(Error::TooManyPlanned);
    }
    if let Asked::EndsAt { ends_at } = &asked {
        later_end(state, *ends_at)?;
    }
    let kind = asked.operation();
    let change = Event::ChangePlanned {
        operation_id: operation.operation_id,
        asked,
        effective_at,
        at,
    };
    let opened = Event::OperationOpened {
        operation_id: operation.operation_id,
        operation: kind,
        // What it would be now; it gets its own when its moment has come.
        version: state.desired_version().saturating_add(1),
        order_id: None,
        idempotency_key: operation.idempotency_key,
        correlation_id: operation.correlation_id,
        effective_at: Some(effective_at),
        at,
    };
    Ok(vec![change, opened])
}

fn at_once(
    state: &mut Entitlement,
    asked: &Asked,
    operation: OpenOperation,
    at: Timestamp,
) -> Result<Vec<Event>, Error> {
    let event = match asked {
        Asked::EndsAt { ends_at } => {
            later_end(state, *ends_at)?;
            in_effect(state, operation.operation_id, asked, at)
        }
        Asked::Enable if state.paused_at.is_some() => return Err(Error::Paused),
        Asked::Pause => paused(state, operation.operation_id, at)?,
        Asked::Resume => resumed(state, operation.operation_id, at)?,
        Asked::Limits { .. } | Asked::Squads { .. } | Asked::Enable | Asked::Disable | Asked::ResetTraffic => {
            in_effect(state, operation.operation_id, asked, at)
        }
    };
    state.evolve(event.clone());
    let opened = Event::OperationOpened {
        operation_id: operation.operation_id,
        operation: asked.operation(),
        version: state.desired_version(),
        order_id: None,
        idempotency_key: operation.idempotency_key,
        correlation_id: operation.correlation_id,
        // A right that begins later is changed later, too.
        effective_at: state.changes.last().and_then(|change| change.effective_at),
        at,
    };
    Ok(vec![event, opened])
}

/// Planned changes whose moment has come, in the order of their moments.
pub(super) fn take_effect(state: &mut Entitlement, at: Timestamp) -> Vec<Event> {
    let mut due: Vec<Planned> = state
        .planned
        .iter()
        .filter(|one| one.effective_at <= at)
        .cloned()
        .collect();
    due.sort_by_key(|one| one.effective_at);
    let mut events = Vec::with_capacity(due.len());
    for one in due {
        let event = in_effect(state, one.operation_id, &one.asked, at);
        state.evolve(event.clone());
        events.push(event);
    }
    events
}

/// What a change that was found good leads to. One that was planned meets a state that may have moved: it never takes anything back.
fn in_effect(state: &Entitlement, operation_id: OperationId, asked: &Asked, at: Timestamp) -> Event {
    let version = state.desired_version().saturating_add(1);
    match asked {
        Asked::EndsAt { ends_at } => Event::EndMoved {
            operation_id,
            ends_at: state.ends_at.map_or(*ends_at, |present| present.max(*ends_at)),
            version,
            at,
        },
        Asked::Limits { traffic_bytes, devices } => {
            let limits = limited(&state.limits(), *traffic_bytes, *devices);
            Event::LimitsChanged {
                operation_id,
                traffic_bytes: limits.traffic_bytes,
                devices: limits.devices,
                version,
                at,
            }
        }
        Asked::Squads { squads } => Event::SquadsChanged {
            operation_id,
            squads: squads.clone(),
            version,
            at,
        },
        Asked::Enable | Asked::Resume => Event::Enabled {
            operation_id,
            version,
            at,
        },
        Asked::Disable | Asked::Pause => Event::Disabled {
            operation_id,
            version,
            at,
        },
        Asked::ResetTraffic => Event::TrafficReset {
            operation_id,
            version,
            at,
        },
    }
}

fn later_end(state: &Entitlement, ends_at: Timestamp) -> Result<(), Error> {
    if state.ends_at.is_some_and(|present| ends_at <= present) {
        return Err(Error::EndNotLater);
    }
    let shown = plus_seconds(ends_at, state.grace_seconds()).filter(|shown| within_calendar(*shown));
    shown.map(|_| ()).ok_or(Error::EndOutOfRange)
}

/// Only a right that has begun, is not over and is not shut can be paused.
fn paused(state: &Entitlement, operation_id: OperationId, at: Timestamp) -> Result<Event, Error> {
    let runs = state
        .desired_at(at)
        .is_some_and(|desired| desired.expire_at > at && desired.version == state.desired_version());
    if !runs || state.disabled || state.paused_at.is_some() {
        return Err(Error::NotPausable);
    }
    Ok(Event::Paused {
        operation_id,
        version: state.desired_version().saturating_add(1),
        at,
    })
}

/// The paid end moves by exactly the time that passed. A clock that went back in between gives nothing and takes nothing.
fn resumed(state: &Entitlement, operation_id: OperationId, at: Timestamp) -> Result<Event, Error> {
    let (Some(paused_at), Some(ends_at)) = (state.paused_at, state.ends_at) else {
        return Err(Error::NotPausable);
    };
    let elapsed = at.signed_duration_since(paused_at).max(chrono::TimeDelta::zero());
    let ends_at = ends_at.checked_add_signed(elapsed).ok_or(Error::EndOutOfRange)?;
    let shown = plus_seconds(ends_at, state.grace_seconds()).filter(|shown| within_calendar(*shown));
    if shown.is_none() {
        return Err(Error::EndOutOfRange);
    }
    Ok(Event::Resumed {
        operation_id,
        ends_at,
        paused_seconds: elapsed.num_seconds(),
        version: state.desired_version().saturating_add(1),
        at,
    })
}
