//! The folded state of an entitlement.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::{
    entitlement::{Difference, DriftKind, Event, OperationKind, OperationState, Outcome, RemoteStatus},
    ids::{CustomerId, EntitlementId, OperationId, OrderId, SubscriptionId},
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
    /// Used traffic starts anew once it is shown.
    pub reset_traffic: bool,
}

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

impl Change {
    /// A change to what was sold, without a fresh count of traffic.
    fn of(terms: &Terms, version: i64, effective_at: Option<Timestamp>, ends_at: Timestamp) -> Self {
        let (grace_seconds, limits) = (terms.grace_seconds, terms.limits.clone());
        Self {
            version,
            effective_at,
            ends_at,
            grace_seconds,
            limits,
            reset_traffic: false,
        }
    }
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

    fn conclude(&mut self, operation_id: OperationId, outcome: Outcome) {
        if let Some(operation) = self.operations.get_mut(&operation_id) {
            operation.outcome = outcome;
        }
    }

    fn change(&mut self, order_id: OrderId, terms: Terms, change: Change) {
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
                at: _,
            } => {
                self.entitlement_id = entitlement_id;
                self.subscription_id = subscription_id;
                self.customer_id = customer_id;
                self.first_order_id = Some(order_id);
                self.starts_at = Some(starts_at);
                let change = Change::of(&terms, version, effective_at, ends_at);
                self.change(order_id, terms, change);
            }
            Event::Extended {
                order_id,
                terms,
                ends_at,
                effective_at,
                reset_traffic,
                version,
                at: _,
            } => {
                let change = Change {
                    reset_traffic,
                    ..Change::of(&terms, version, effective_at, ends_at)
                };
                self.change(order_id, terms, change);
            }
            Event::OperationOpened {
                operation_id,
                operation,
                version,
                order_id,
                effective_at,
                ..
            } => {
                let outcome = Outcome::Open;
                let opened = OperationState {
                    kind: operation,
                    version,
                    order_id,
                    effective_at,
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
