//! Operations of an entitlement: how they are opened without a purchase, and how they end.

use super::{
    Entitlement, Error, Event, OpenOperation, OperationKind, OperationState, Outcome, RemoteStatus, reconcile,
};
use crate::{ids::OperationId, time::Timestamp};

/// What the panel was made to show.
pub(super) struct Shown {
    pub(super) version: i64,
    pub(super) remote_user_id: i64,
    pub(super) remote_status: RemoteStatus,
    pub(super) at: Timestamp,
}

fn known(entitlement: &Entitlement, operation_id: OperationId) -> Result<&OperationState, Error> {
    entitlement.operations.get(&operation_id).ok_or(Error::UnknownOperation)
}

pub(super) fn open_reconcile(
    entitlement: &Entitlement,
    operation: OpenOperation,
    at: Timestamp,
) -> Result<Vec<Event>, Error> {
    if let Some(existing) = entitlement.operations.get(&operation.operation_id) {
        let repeat = existing.kind == OperationKind::Reconcile;
        return if repeat {
            Ok(Vec::new())
        } else {
            Err(Error::OperationConflict)
        };
    }
    if entitlement.has_open_reconcile() {
        return Ok(Vec::new());
    }
    let due = entitlement.desired_at(at).map(|desired| desired.version);
    Ok(vec![Event::OperationOpened {
        operation_id: operation.operation_id,
        operation: OperationKind::Reconcile,
        version: due.unwrap_or_else(|| entitlement.desired_version()),
        order_id: None,
        idempotency_key: operation.idempotency_key,
        correlation_id: operation.correlation_id,
        effective_at: None,
        at,
    }])
}

/// The panel's state is a fact whatever became of the operation meanwhile; its outcome is decided once.
pub(super) fn record_applied(
    entitlement: &Entitlement,
    operation_id: OperationId,
    shown: &Shown,
) -> Result<Vec<Event>, Error> {
    let operation = known(entitlement, operation_id)?;
    if !(1..=entitlement.desired_version()).contains(&shown.version) {
        return Err(Error::UnknownVersion);
    }
    let open = operation.outcome == Outcome::Open;
    let behind = shown.version < operation.version || entitlement.is_planned(operation_id);
    if open && operation.kind != OperationKind::Reconcile && behind {
        return Err(Error::VersionBehind);
    }
    let mut events: Vec<Event> = applied(entitlement, shown, open).into_iter().collect();
    if open {
        events.extend(reconcile::all_corrected(entitlement, operation_id, shown.at));
        events.push(Event::OperationSucceeded {
            operation_id,
            superseded: false,
            at: shown.at,
        });
    }
    Ok(events)
}

/// What the panel shows, where that is news.
pub(super) fn applied(entitlement: &Entitlement, shown: &Shown, open: bool) -> Option<Event> {
    news(entitlement, shown, open).then_some(Event::Applied {
        version: shown.version,
        remote_user_id: shown.remote_user_id,
        remote_status: shown.remote_status,
        at: shown.at,
    })
}

/// A newer version, or another look of the same one. A late repeat for an ended operation may be older than what is known.
fn news(entitlement: &Entitlement, shown: &Shown, open: bool) -> bool {
    let other_look = entitlement.remote_user_id != Some(shown.remote_user_id)
        || entitlement.remote_status != Some(shown.remote_status);
    match shown.version.cmp(&entitlement.applied_version) {
        std::cmp::Ordering::Greater => true,
        std::cmp::Ordering::Equal => open && other_look,
        std::cmp::Ordering::Less => false,
    }
}

pub(super) fn close_superseded(
    entitlement: &Entitlement,
    operation_id: OperationId,
    at: Timestamp,
) -> Result<Vec<Event>, Error> {
    let operation = known(entitlement, operation_id)?;
    match operation.outcome {
        Outcome::Open if entitlement.applied_version < operation.version || entitlement.is_planned(operation_id) => {
            Err(Error::NotSuperseded)
        }
        Outcome::Open => Ok(vec![Event::OperationSucceeded {
            operation_id,
            superseded: true,
            at,
        }]),
        Outcome::Succeeded | Outcome::Failed | Outcome::Cancelled => Ok(Vec::new()),
    }
}

pub(super) fn record_failed(
    entitlement: &Entitlement,
    operation_id: OperationId,
    code: String,
    attempts: i32,
    at: Timestamp,
) -> Result<Vec<Event>, Error> {
    match known(entitlement, operation_id)?.outcome {
        Outcome::Open => Ok(vec![Event::OperationFailed {
            operation_id,
            code,
            attempts,
            at,
        }]),
        Outcome::Succeeded | Outcome::Failed | Outcome::Cancelled => Ok(Vec::new()),
    }
}

/// An open operation needs no new budget: the repeat of a retry meets one.
pub(super) fn retry(entitlement: &Entitlement, operation_id: OperationId, at: Timestamp) -> Result<Vec<Event>, Error> {
    let operation = known(entitlement, operation_id)?;
    let second_reconcile = operation.kind == OperationKind::Reconcile && entitlement.has_open_reconcile();
    match operation.outcome {
        Outcome::Open => Ok(Vec::new()),
        Outcome::Failed if !second_reconcile => Ok(vec![Event::OperationRetried { operation_id, at }]),
        Outcome::Failed | Outcome::Succeeded | Outcome::Cancelled => Err(Error::NotRetryable),
    }
}

/// The desired state stays, except for a change whose moment has not come: nobody has seen it, so it is dropped.
pub(super) fn cancel(
    entitlement: &Entitlement,
    operation_id: OperationId,
    code: String,
    at: Timestamp,
) -> Result<Vec<Event>, Error> {
    match known(entitlement, operation_id)?.outcome {
        Outcome::Open | Outcome::Failed => {
            let planned = entitlement.is_planned(operation_id);
            let dropped = planned.then_some(Event::ChangeDropped { operation_id, at });
            let cancelled = Event::OperationCancelled { operation_id, code, at };
            Ok(dropped.into_iter().chain([cancelled]).collect())
        }
        Outcome::Cancelled => Ok(Vec::new()),
        Outcome::Succeeded => Err(Error::NotCancellable),
    }
}
