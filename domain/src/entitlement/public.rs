//! What an entitlement's events announce to others.

use super::{Entitlement, Event, Outcome};
use crate::topics::{Message, OperationOpened};

/// An operation that was retried announces nothing: the operator's request inserts its job itself. One that was opened and ended by the
/// same decision needs no job.
pub(super) fn announce(after: &Entitlement, event: &Event) -> Vec<Message> {
    match event {
        Event::OperationOpened { operation_id, .. } => {
            let known = after.operations.get(operation_id);
            if known.is_some_and(|operation| operation.outcome != Outcome::Open) {
                return Vec::new();
            }
            vec![Message::OperationOpened(OperationOpened {
                operation_id: *operation_id,
            })]
        }
        Event::Granted { .. }
        | Event::Extended { .. }
        | Event::EndMoved { .. }
        | Event::LimitsChanged { .. }
        | Event::SquadsChanged { .. }
        | Event::Enabled { .. }
        | Event::Disabled { .. }
        | Event::TrafficReset { .. }
        | Event::Paused { .. }
        | Event::Resumed { .. }
        | Event::ChangePlanned { .. }
        | Event::ChangeDropped { .. }
        | Event::Applied { .. }
        | Event::OperationSucceeded { .. }
        | Event::OperationFailed { .. }
        | Event::OperationCancelled { .. }
        | Event::OperationRetried { .. }
        | Event::DriftDetected { .. }
        | Event::DriftCorrected { .. } => Vec::new(),
    }
}
