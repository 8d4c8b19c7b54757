//! Facts of an entitlement, as stored.

use cqrs_es::DomainEvent;
use serde::{Deserialize, Serialize};

use crate::{
    entitlement::OperationKind,
    ids::{CustomerId, EntitlementId, OperationId, OrderId, SubscriptionId},
    plan::Terms,
    time::Timestamp,
};

/// What the panel says of a user (contracts 1.5). A word it did not have when this was written is `Other`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RemoteStatus {
    Active,
    Disabled,
    Limited,
    Expired,
    Other,
}

/// What happened to an entitlement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
pub enum Event {
    /// The first paid period. Desired version 1.
    #[serde(rename = "entitlement.granted")]
    Granted {
        entitlement_id: EntitlementId,
        subscription_id: SubscriptionId,
        customer_id: CustomerId,
        order_id: OrderId,
        terms: Terms,
        starts_at: Timestamp,
        ends_at: Timestamp,
        /// When the change is to be applied; absent means at once.
        effective_at: Option<Timestamp>,
        version: i64,
        at: Timestamp,
    },
    /// A further paid period on the same subscription.
    #[serde(rename = "entitlement.extended")]
    Extended {
        order_id: OrderId,
        terms: Terms,
        ends_at: Timestamp,
        effective_at: Option<Timestamp>,
        /// Used traffic starts anew once this version is applied.
        reset_traffic: bool,
        version: i64,
        at: Timestamp,
    },
    /// The panel is to be converged.
    #[serde(rename = "entitlement.operation_opened")]
    OperationOpened {
        operation_id: OperationId,
        operation: OperationKind,
        version: i64,
        order_id: Option<OrderId>,
        idempotency_key: String,
        correlation_id: String,
        effective_at: Option<Timestamp>,
        at: Timestamp,
    },
    /// The panel shows `version`.
    #[serde(rename = "entitlement.applied")]
    Applied {
        version: i64,
        remote_user_id: i64,
        remote_status: RemoteStatus,
        at: Timestamp,
    },
    /// An operation reached its goal, by its own push or because a newer version was already shown.
    #[serde(rename = "entitlement.operation_succeeded")]
    OperationSucceeded {
        operation_id: OperationId,
        superseded: bool,
        at: Timestamp,
    },
    /// An operation gave up for good.
    #[serde(rename = "entitlement.operation_failed")]
    OperationFailed {
        operation_id: OperationId,
        code: String,
        attempts: i32,
        at: Timestamp,
    },
    /// An operator abandoned an operation. The desired state stays.
    #[serde(rename = "entitlement.operation_cancelled")]
    OperationCancelled {
        operation_id: OperationId,
        code: String,
        at: Timestamp,
    },
    /// An operator gave a failed operation a new budget.
    #[serde(rename = "entitlement.operation_retried")]
    OperationRetried { operation_id: OperationId, at: Timestamp },
}

impl DomainEvent for Event {
    fn event_type(&self) -> String {
        match self {
            Self::Granted { .. } => "entitlement.granted",
            Self::Extended { .. } => "entitlement.extended",
            Self::OperationOpened { .. } => "entitlement.operation_opened",
            Self::Applied { .. } => "entitlement.applied",
            Self::OperationSucceeded { .. } => "entitlement.operation_succeeded",
            Self::OperationFailed { .. } => "entitlement.operation_failed",
            Self::OperationCancelled { .. } => "entitlement.operation_cancelled",
            Self::OperationRetried { .. } => "entitlement.operation_retried",
        }
        .to_owned()
    }

    fn event_version(&self) -> String {
        "1".to_owned()
    }
}
