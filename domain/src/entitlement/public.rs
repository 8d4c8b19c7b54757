//! What an entitlement's events announce to others.

use super::Event;
use crate::topics::{Message, OperationOpened};

/// An operation that was retried announces nothing: the operator's request inserts its job itself.
pub(super) fn announce(event: &Event) -> Vec<Message> {
    match event {
        Event::OperationOpened { operation_id, .. } => {
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
