//! The folded state of an entitlement.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::{
    entitlement::{
        Access, Asked, Change, Difference, DriftKind, Event, OperationKind, OperationState, Outcome, Planned,
        RemoteStatus,
    },
    ids::{CustomerId, EntitlementId, OperationId, OrderId, SubscriptionId},
    plan::{Limits, Terms},
    time::Timestamp,
};

/// One entitlement, as its events tell it. `entitlement_id` is nil until it is granted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entitlement {
    /// Its id.
    pub entitlement_id: EntitlementId,
    /// The one remote user it is about.
    pub subscription_id: SubscriptionId,
    /// Whose right it is.
    pub customer_id: CustomerId,
    /// The order that granted it.
    pub first_order_id: Option<OrderId>,
    /// As last sold.
    pub terms: Option<Terms>,
    /// Begin of the first period.
    pub starts_at: Option<Timestamp>,
    /// Paid end.
    pub ends_at: Option<Timestamp>,
    /// In ascending version.
    pub changes: Vec<Change>,
    /// In the order in which they were asked for.
    pub planned: Vec<Planned>,
    /// What was planned and withdrawn before its moment.
    pub dropped: BTreeMap<OperationId, Asked>,
    /// An operator shut it.
    pub disabled: bool,
    /// Begin of the pause it is in.
    pub paused_at: Option<Timestamp>,
    /// What all ended pauses took, in seconds.
    pub paused_seconds: i64,
    /// Newest version that the panel was seen to show; 0 before the first push.
    pub applied_version: i64,
    /// The panel's key of the remote user.
    pub remote_user_id: Option<i64>,
    /// What the panel last said of it.
    pub remote_status: Option<RemoteStatus>,
    /// Orders that changed it.
    pub orders: BTreeSet<OrderId>,
    /// Every operation it ever had.
    pub operations: BTreeMap<OperationId, OperationState>,
    /// Where the panel was last seen to differ, and has not been made to agree since.
    pub open_drifts: BTreeMap<DriftKind, Difference>,
}

impl Entitlement {
    /// It exists.
    pub fn is_granted(&self) -> bool {
        !self.changes.is_empty()
    }

    /// Newest version, due or not; 0 before it is granted.
    pub fn desired_version(&self) -> i64 {
        self.changes.last().map_or(0, |change| change.version)
    }

    /// A `reconcile` has not ended yet.
    pub fn has_open_reconcile(&self) -> bool {
        self.operations
            .values()
            .any(|operation| operation.kind == OperationKind::Reconcile && operation.outcome == Outcome::Open)
    }

    /// What may be used from the newest change on.
    pub fn limits(&self) -> Limits {
        self.changes
            .last()
            .map_or_else(Limits::default, |change| change.limits.clone())
    }

    /// How long access stays open after the paid end, in seconds.
    pub fn grace_seconds(&self) -> i64 {
        self.changes.last().map_or(0, |change| change.grace_seconds)
    }

    /// Whether the user may connect, from the newest change on.
    pub fn access(&self) -> Access {
        match (self.paused_at, self.disabled) {
            (Some(_), _) => Access::Paused,
            (None, true) => Access::Disabled,
            (None, false) => Access::Open,
        }
    }

    /// The change of this operation is planned, and its moment has not come.
    pub fn is_planned(&self, operation_id: OperationId) -> bool {
        self.planned.iter().any(|one| one.operation_id == operation_id)
    }

    /// What an operator asked for by this operation.
    pub fn asked_by(&self, operation_id: OperationId) -> Option<&Asked> {
        let planned = self.planned.iter().find(|one| one.operation_id == operation_id);
        let made = || self.changes.iter().find(|one| one.operation_id == Some(operation_id));
        planned
            .map(|one| &one.asked)
            .or_else(|| made().and_then(|one| one.asked.as_ref()))
            .or_else(|| self.dropped.get(&operation_id))
    }

    fn conclude(&mut self, operation_id: OperationId, outcome: Outcome) {
        if let Some(operation) = self.operations.get_mut(&operation_id) {
            operation.outcome = outcome;
        }
    }

    fn sold(&mut self, order_id: OrderId, terms: Terms, change: Change) {
        self.orders.insert(order_id);
        self.terms = Some(terms);
        self.ends_at = Some(change.ends_at);
        self.changes.push(change);
    }

    /// Takes a fact as it is: rules were kept when it was decided.
    #[expect(clippy::too_many_lines, reason = "one arm a fact, every field of it in sight")]
    pub(super) fn evolve(&mut self, event: Event) {
        match event {
            Event::Granted {
                entitlement_id,
                subscription_id,
                customer_id,
                order_id,
                terms,
                starts_at,
                ends_at,
                effective_at,
                version,
                at,
            } => {
                self.entitlement_id = entitlement_id;
                self.subscription_id = subscription_id;
                self.customer_id = customer_id;
                self.first_order_id = Some(order_id);
                self.starts_at = Some(starts_at);
                let change = Change::of(&terms, version, effective_at, ends_at, at);
                self.sold(order_id, terms, change);
            }
            Event::Extended {
                order_id,
                terms,
                ends_at,
                effective_at,
                reset_traffic,
                limits,
                version,
                at,
            } => {
                let change = Change {
                    reset_traffic,
                    limits,
                    access: self.access(),
                    ..Change::of(&terms, version, effective_at, ends_at, at)
                };
                self.sold(order_id, terms, change);
            }
            change @ (Event::EndMoved { .. }
            | Event::LimitsChanged { .. }
            | Event::SquadsChanged { .. }
            | Event::Enabled { .. }
            | Event::Disabled { .. }
            | Event::TrafficReset { .. }
            | Event::Paused { .. }
            | Event::Resumed { .. }
            | Event::ChangePlanned { .. }
            | Event::ChangeDropped { .. }) => self.follow(change),
            Event::OperationOpened {
                operation_id,
                operation,
                version,
                order_id,
                effective_at,
                idempotency_key,
                correlation_id: _,
                at,
            } => {
                let outcome = Outcome::Open;
                let is_planned = self.is_planned(operation_id);
                let opened = OperationState {
                    kind: operation,
                    version,
                    order_id,
                    effective_at,
                    planned_for: effective_at.filter(|_| is_planned),
                    idempotency_key,
                    opened_at: at,
                    outcome,
                };
                self.operations.insert(operation_id, opened);
            }
            Event::Applied {
                version,
                remote_user_id,
                remote_status,
                ..
            } => {
                self.applied_version = self.applied_version.max(version);
                self.remote_user_id = Some(remote_user_id);
                self.remote_status = Some(remote_status);
            }
            Event::OperationSucceeded { operation_id, .. } => self.conclude(operation_id, Outcome::Succeeded),
            Event::OperationFailed { operation_id, .. } => self.conclude(operation_id, Outcome::Failed),
            Event::OperationCancelled { operation_id, .. } => self.conclude(operation_id, Outcome::Cancelled),
            Event::OperationRetried { operation_id, .. } => self.conclude(operation_id, Outcome::Open),
            Event::DriftDetected {
                kind,
                expected,
                observed,
                ..
            } => {
                let difference = Difference {
                    kind,
                    expected,
                    observed,
                };
                self.open_drifts.insert(kind, difference);
            }
            Event::DriftCorrected { kind, .. } => {
                self.open_drifts.remove(&kind);
            }
        }
    }
}
