//! What a look at the panel leads to: drift that is detected, drift that is gone, and the end of a reconcile.
//!
//! A reconcile that the pass opens lives in its operational row alone: it enters the stream only with something to tell. So the operation may
//! be unknown here.

use super::{
    Agreed, BadEnd, Entitlement, Error, Event, OpenOperation, OperationKind, Outcome,
    drift::{DriftKind, Observed, compare},
    operations::{self, Shown},
};
use crate::{ids::OperationId, time::Timestamp};

/// A look at the panel.
pub(super) struct Look {
    pub(super) operation_id: Option<OperationId>,
    /// Desired version that the look was taken for.
    pub(super) version: i64,
    /// `None` when there is no such user.
    pub(super) observed: Option<Observed>,
    pub(super) at: Timestamp,
}

/// Judged only against what the panel was already made to show: while a newer version is on its way, a difference is work that is under way
/// and not drift. That the user is gone is drift at any version.
pub(super) fn record_drift(entitlement: &Entitlement, look: &Look) -> Vec<Event> {
    let Some(desired) = entitlement.desired_at(look.at) else {
        return Vec::new();
    };
    if entitlement.applied_version == 0 || desired.version != look.version {
        return Vec::new();
    }
    let settled = desired.version <= entitlement.applied_version;
    let differences = compare(&desired, look.observed.as_ref(), look.at);
    let gone = entitlement.open_drifts.keys().copied().filter(|kind| {
        let still = differences.iter().any(|difference| difference.kind == *kind);
        settled && !still
    });
    let mut events: Vec<Event> = gone
        .map(|kind| corrected(kind, look.operation_id, desired.version, look.at))
        .collect();
    let detected = differences
        .into_iter()
        .filter(|difference| settled || difference.kind == DriftKind::MissingRemote)
        .filter(|difference| entitlement.open_drifts.get(&difference.kind) != Some(difference))
        .map(|difference| Event::DriftDetected {
            operation_id: look.operation_id,
            kind: difference.kind,
            expected: difference.expected,
            observed: difference.observed,
            version: desired.version,
            at: look.at,
        });
    events.extend(detected);
    events
}

/// The panel agrees, by itself or after a push; `None` where it need not show anything any more.
pub(super) fn record_reconciled(
    entitlement: &Entitlement,
    operation_id: OperationId,
    agreed: Option<Agreed>,
    at: Timestamp,
) -> Result<Vec<Event>, Error> {
    let open = match entitlement.operations.get(&operation_id) {
        None => false,
        Some(known) if known.kind != OperationKind::Reconcile => return Err(Error::OperationConflict),
        Some(known) if known.outcome != Outcome::Open => return Ok(Vec::new()),
        Some(_) => true,
    };
    let mut events = Vec::new();
    if let Some(agreed) = agreed {
        let shown = Shown {
            version: agreed.version,
            remote_user_id: agreed.remote_user_id,
            remote_status: agreed.remote_status,
            at,
        };
        if !(1..=entitlement.desired_version()).contains(&shown.version) {
            return Err(Error::UnknownVersion);
        }
        events.extend(operations::applied(entitlement, &shown, true));
    }
    events.extend(all_corrected(entitlement, operation_id, at));
    if open {
        events.push(Event::OperationSucceeded {
            operation_id,
            superseded: false,
            at,
        });
    }
    Ok(events)
}

/// Its end is worth an event even where its beginning was not.
pub(super) fn end_badly(
    entitlement: &Entitlement,
    operation: OpenOperation,
    end: BadEnd,
    code: String,
    at: Timestamp,
) -> Result<Vec<Event>, Error> {
    let operation_id = operation.operation_id;
    if entitlement.operations.contains_key(&operation_id) {
        return match end {
            BadEnd::Failed { attempts } => operations::record_failed(entitlement, operation_id, code, attempts, at),
            BadEnd::Cancelled => operations::cancel(entitlement, operation_id, code, at),
        };
    }
    let due = entitlement.desired_at(at).map(|desired| desired.version);
    let opened = Event::OperationOpened {
        operation_id,
        operation: OperationKind::Reconcile,
        version: due.unwrap_or_else(|| entitlement.desired_version()),
        order_id: None,
        idempotency_key: operation.idempotency_key,
        correlation_id: operation.correlation_id,
        effective_at: None,
        at,
    };
    let ended = match end {
        BadEnd::Failed { attempts } => Event::OperationFailed {
            operation_id,
            code,
            attempts,
            at,
        },
        BadEnd::Cancelled => Event::OperationCancelled { operation_id, code, at },
    };
    Ok(vec![opened, ended])
}

/// A push that succeeded ends every open drift (seeds).
pub(super) fn all_corrected(
    entitlement: &Entitlement,
    operation_id: OperationId,
    at: Timestamp,
) -> impl Iterator<Item = Event> {
    let version = entitlement.desired_at(at).map_or(0, |desired| desired.version);
    entitlement
        .open_drifts
        .keys()
        .map(move |kind| corrected(*kind, Some(operation_id), version, at))
}

fn corrected(kind: DriftKind, operation_id: Option<OperationId>, version: i64, at: Timestamp) -> Event {
    Event::DriftCorrected {
        operation_id,
        kind,
        version,
        at,
    }
}
