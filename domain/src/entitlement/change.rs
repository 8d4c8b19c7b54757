//! One change of the desired state, and how those of operators are folded.

use serde::{Deserialize, Serialize};

use super::{Access, Asked, Entitlement, Event, asked};
use crate::{
    ids::OperationId,
    plan::{Limits, Terms},
    time::Timestamp,
};

/// One change of the desired state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// From 1, one more with each change.
    pub version: i64,
    /// Not to be shown before; absent means at once.
    pub effective_at: Option<Timestamp>,
    /// Paid end from this change on.
    pub ends_at: Timestamp,
    /// How long access stays open after the paid end, in seconds.
    pub grace_seconds: i64,
    /// What may be used.
    pub limits: Limits,
    /// Whether the user may connect.
    pub access: Access,
    /// Used traffic starts anew once it is shown.
    pub reset_traffic: bool,
    /// It opens a user that was shut by hand at the panel.
    pub opens: bool,
    /// The operator's operation that it came with; absent for a purchase.
    pub operation_id: Option<OperationId>,
    /// What the operator asked for, where it is compared with a repeat.
    pub asked: Option<Asked>,
    /// When it was made, or took effect.
    pub at: Timestamp,
}

/// A change whose moment has not come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Planned {
    /// The operation that will show it.
    pub operation_id: OperationId,
    /// What it will be.
    pub asked: Asked,
    /// Its moment.
    pub effective_at: Timestamp,
}

impl Change {
    /// A change to what was sold, without a fresh count of traffic.
    pub(super) fn of(
        terms: &Terms,
        version: i64,
        effective_at: Option<Timestamp>,
        ends_at: Timestamp,
        at: Timestamp,
    ) -> Self {
        let (grace_seconds, limits) = (terms.grace_seconds, terms.limits.clone());
        Self {
            version,
            effective_at,
            ends_at,
            grace_seconds,
            limits,
            access: Access::Open,
            reset_traffic: false,
            opens: true,
            operation_id: None,
            asked: None,
            at,
        }
    }
}

impl Entitlement {
    /// Takes a fact that an operator's wish led to.
    #[expect(clippy::too_many_lines, reason = "one arm a fact, every field of it in sight")]
    pub(super) fn follow(&mut self, event: Event) {
        match event {
            Event::EndMoved {
                operation_id,
                ends_at,
                version,
                at,
            } => self.amended((operation_id, version, at), Asked::EndsAt { ends_at }, |change| {
                change.ends_at = ends_at;
            }),
            Event::LimitsChanged {
                operation_id,
                traffic_bytes,
                devices,
                version,
                at,
            } => {
                let (traffic, most) = (Some(traffic_bytes.into()), Some(devices.into()));
                let asked = Asked::Limits {
                    traffic_bytes: traffic,
                    devices: most,
                };
                self.amended((operation_id, version, at), asked, |change| {
                    change.limits = asked::limited(&change.limits, traffic, most);
                });
            }
            Event::SquadsChanged {
                operation_id,
                squads,
                version,
                at,
            } => {
                let asked = Asked::Squads { squads: squads.clone() };
                self.amended((operation_id, version, at), asked, |change| {
                    change.limits.squads = squads;
                });
            }
            Event::Enabled {
                operation_id,
                version,
                at,
            } => {
                self.disabled = false;
                self.amended((operation_id, version, at), Asked::Enable, |change| change.opens = true);
            }
            Event::Disabled {
                operation_id,
                version,
                at,
            } => {
                self.disabled = true;
                self.amended((operation_id, version, at), Asked::Disable, |_| {});
            }
            Event::TrafficReset {
                operation_id,
                version,
                at,
            } => {
                self.amended((operation_id, version, at), Asked::ResetTraffic, |_| {});
            }
            Event::Paused {
                operation_id,
                version,
                at,
            } => {
                self.paused_at = Some(at);
                self.amended((operation_id, version, at), Asked::Pause, |_| {});
            }
            Event::Resumed {
                operation_id,
                ends_at,
                paused_seconds,
                version,
                at,
            } => {
                self.paused_at = None;
                self.paused_seconds = self.paused_seconds.saturating_add(paused_seconds);
                self.amended((operation_id, version, at), Asked::Resume, |change| {
                    change.ends_at = ends_at;
                    change.opens = true;
                });
            }
            Event::ChangePlanned {
                operation_id,
                asked,
                effective_at,
                at: _,
            } => self.planned.push(Planned {
                operation_id,
                asked,
                effective_at,
            }),
            Event::ChangeDropped { operation_id, at: _ } => {
                if let Some(index) = self.planned.iter().position(|one| one.operation_id == operation_id) {
                    self.dropped.insert(operation_id, self.planned.remove(index).asked);
                }
            }
            Event::Granted { .. }
            | Event::Extended { .. }
            | Event::OperationOpened { .. }
            | Event::Applied { .. }
            | Event::OperationSucceeded { .. }
            | Event::OperationFailed { .. }
            | Event::OperationCancelled { .. }
            | Event::OperationRetried { .. }
            | Event::DriftDetected { .. }
            | Event::DriftCorrected { .. } => {}
        }
    }

    /// A change by an operator: everything as it was, except for what `amend` does. A right that has not begun stays hidden until it does.
    fn amended(
        &mut self,
        (operation_id, version, at): (OperationId, i64, Timestamp),
        asked: Asked,
        amend: impl FnOnce(&mut Change),
    ) {
        let Some(last) = self.changes.last() else {
            return;
        };
        let mut change = Change {
            version,
            effective_at: last.effective_at.filter(|effective_at| *effective_at > at),
            access: self.access(),
            reset_traffic: false,
            opens: false,
            operation_id: Some(operation_id),
            asked: Some(asked),
            at,
            ..last.clone()
        };
        amend(&mut change);
        // A planned change keeps the words it was asked in.
        if let Some(index) = self.planned.iter().position(|one| one.operation_id == operation_id) {
            change.asked = Some(self.planned.remove(index).asked);
            if let Some(operation) = self.operations.get_mut(&operation_id) {
                operation.version = version;
            }
        }
        self.ends_at = Some(change.ends_at);
        self.changes.push(change);
    }
}
