//! The folded state of an entitlement.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::{
    entitlement::{OperationState, RemoteStatus},
    ids::{CustomerId, EntitlementId, OperationId, OrderId, SubscriptionId},
    plan::{Limits, Terms},
    time::Timestamp,
};

/// One change of the desired state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    pub version: i64,
    pub effective_at: Option<Timestamp>,
    pub ends_at: Timestamp,
    pub grace_seconds: i64,
    pub limits: Limits,
    pub reset_traffic: bool,
}

/// One entitlement, as its events tell it. `entitlement_id` is nil until it is granted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entitlement {
    pub entitlement_id: EntitlementId,
    pub subscription_id: SubscriptionId,
    pub customer_id: CustomerId,
    pub terms: Option<Terms>,
    pub starts_at: Option<Timestamp>,
    pub ends_at: Option<Timestamp>,
    /// In ascending version.
    pub changes: Vec<Change>,
    pub applied_version: i64,
    pub remote_user_id: Option<i64>,
    pub remote_status: Option<RemoteStatus>,
    /// Orders that changed it.
    pub orders: BTreeSet<OrderId>,
    pub operations: BTreeMap<OperationId, OperationState>,
}
