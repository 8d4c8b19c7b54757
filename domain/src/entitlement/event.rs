//! Facts of an entitlement, as stored.

use cqrs_es::DomainEvent;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{
    entitlement::{Asked, DriftKind, OperationKind, Side},
    ids::{CustomerId, EntitlementId, OperationId, OrderId, SubscriptionId},
    plan::{Limits, Terms},
    time::Timestamp,
};

/// What the panel says of a user (contracts 1.5). A word it did not have when this was written is `Other`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RemoteStatus {
    /// May connect.
    Active,
    /// Shut by hand.
    Disabled,
    /// Used up its traffic.
    Limited,
    /// Its time is over.
    Expired,
    /// A word that this version does not know.
    Other,
}

/// What happened to an entitlement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
pub enum Event {
    /// The first paid period. Desired version 1.
    #[serde(rename = "entitlement.granted")]
    Granted {
        /// The entitlement.
        entitlement_id: EntitlementId,
        /// The one remote user it is about.
        subscription_id: SubscriptionId,
        /// Who buys.
        customer_id: CustomerId,
        /// The order that paid for it.
        order_id: OrderId,
        /// As sold.
        terms: Terms,
        /// Begin of the period.
        starts_at: Timestamp,
        /// Paid end from now on.
        ends_at: Timestamp,
        /// When the change is to be applied; absent means at once.
        effective_at: Option<Timestamp>,
        /// Version of the desired state.
        version: i64,
        /// When it happened.
        at: Timestamp,
    },
    /// A further paid period on the same subscription.
    #[serde(rename = "entitlement.extended")]
    Extended {
        /// The order that paid for it.
        order_id: OrderId,
        /// As sold.
        terms: Terms,
        /// Paid end from now on.
        ends_at: Timestamp,
        /// Not to be shown before; absent means at once.
        effective_at: Option<Timestamp>,
        /// Used traffic starts anew once this version is applied.
        reset_traffic: bool,
        /// What may be used from now on: as sold, except for what an operator had set and this purchase does not replace. Since version 2.
        limits: Limits,
        /// Version of the desired state.
        version: i64,
        /// When it happened.
        at: Timestamp,
    },
    /// An operator gave a later end.
    #[serde(rename = "entitlement.end_moved")]
    EndMoved {
        /// The operation that shows it.
        operation_id: OperationId,
        /// Paid end from now on.
        ends_at: Timestamp,
        /// Version of the desired state.
        version: i64,
        /// When it happened.
        at: Timestamp,
    },
    /// An operator set other limits.
    #[serde(rename = "entitlement.limits_changed")]
    LimitsChanged {
        /// The operation that shows it.
        operation_id: OperationId,
        /// Bytes of traffic from now on; null is unlimited.
        traffic_bytes: Option<i64>,
        /// Devices at once from now on; null is unlimited.
        devices: Option<i32>,
        /// Version of the desired state.
        version: i64,
        /// When it happened.
        at: Timestamp,
    },
    /// An operator set other squads.
    #[serde(rename = "entitlement.squads_changed")]
    SquadsChanged {
        /// The operation that shows it.
        operation_id: OperationId,
        /// The whole set from now on, sorted.
        squads: Vec<Uuid>,
        /// Version of the desired state.
        version: i64,
        /// When it happened.
        at: Timestamp,
    },
    /// An operator lifted a lock.
    #[serde(rename = "entitlement.enabled")]
    Enabled {
        /// The operation that shows it.
        operation_id: OperationId,
        /// Version of the desired state.
        version: i64,
        /// When it happened.
        at: Timestamp,
    },
    /// An operator shut access until it is enabled.
    #[serde(rename = "entitlement.disabled")]
    Disabled {
        /// The operation that shows it.
        operation_id: OperationId,
        /// Version of the desired state.
        version: i64,
        /// When it happened.
        at: Timestamp,
    },
    /// An operator let used traffic start anew.
    #[serde(rename = "entitlement.traffic_reset")]
    TrafficReset {
        /// The operation that does it.
        operation_id: OperationId,
        /// Version of the desired state.
        version: i64,
        /// When it happened.
        at: Timestamp,
    },
    /// An operator stopped the clock of the right; access is shut meanwhile.
    #[serde(rename = "entitlement.paused")]
    Paused {
        /// The operation that shows it.
        operation_id: OperationId,
        /// Version of the desired state.
        version: i64,
        /// When it happened.
        at: Timestamp,
    },
    /// A pause ended.
    #[serde(rename = "entitlement.resumed")]
    Resumed {
        /// The operation that shows it.
        operation_id: OperationId,
        /// Paid end from now on: the time of the pause was added.
        ends_at: Timestamp,
        /// How long the pause took, in whole seconds.
        paused_seconds: i64,
        /// Version of the desired state.
        version: i64,
        /// When it happened.
        at: Timestamp,
    },
    /// An operator asked for a change at a later moment. No desired state contains it yet.
    #[serde(rename = "entitlement.change_planned")]
    ChangePlanned {
        /// The operation that will show it.
        operation_id: OperationId,
        /// What it will be.
        asked: Asked,
        /// When it will take effect.
        effective_at: Timestamp,
        /// When it happened.
        at: Timestamp,
    },
    /// A planned change was withdrawn before its moment.
    #[serde(rename = "entitlement.change_dropped")]
    ChangeDropped {
        /// The operation that would have shown it.
        operation_id: OperationId,
        /// When it happened.
        at: Timestamp,
    },
    /// The panel is to be converged.
    #[serde(rename = "entitlement.operation_opened")]
    OperationOpened {
        /// The operation.
        operation_id: OperationId,
        /// What kind it is.
        operation: OperationKind,
        /// Version of the desired state.
        version: i64,
        /// The order that paid for it.
        order_id: Option<OrderId>,
        /// Unique among all operations.
        idempotency_key: String,
        /// The flow it belongs to.
        correlation_id: String,
        /// Not to be shown before; absent means at once.
        effective_at: Option<Timestamp>,
        /// When it happened.
        at: Timestamp,
    },
    /// The panel shows `version`.
    #[serde(rename = "entitlement.applied")]
    Applied {
        /// Version of the desired state.
        version: i64,
        /// The panel's key of the remote user.
        remote_user_id: i64,
        /// What the panel said of it.
        remote_status: RemoteStatus,
        /// When it happened.
        at: Timestamp,
    },
    /// An operation reached its goal, by its own push or because a newer version was already shown.
    #[serde(rename = "entitlement.operation_succeeded")]
    OperationSucceeded {
        /// The operation.
        operation_id: OperationId,
        /// Its version was shown by another operation.
        superseded: bool,
        /// When it happened.
        at: Timestamp,
    },
    /// An operation gave up for good.
    #[serde(rename = "entitlement.operation_failed")]
    OperationFailed {
        /// The operation.
        operation_id: OperationId,
        /// Why, as a stable machine value.
        code: String,
        /// Failures that led here.
        attempts: i32,
        /// When it happened.
        at: Timestamp,
    },
    /// An operator abandoned an operation. The desired state stays.
    #[serde(rename = "entitlement.operation_cancelled")]
    OperationCancelled {
        /// The operation.
        operation_id: OperationId,
        /// Why, as a stable machine value.
        code: String,
        /// When it happened.
        at: Timestamp,
    },
    /// An operator gave a failed operation a new budget.
    #[serde(rename = "entitlement.operation_retried")]
    OperationRetried {
        /// The operation.
        operation_id: OperationId,
        /// When it happened.
        at: Timestamp,
    },
    /// The panel was seen to differ from what it was made to show. The same kind again refreshes what is known of it.
    #[serde(rename = "entitlement.drift_detected")]
    DriftDetected {
        /// The operation that looked; absent for a look that a hint of the panel led to.
        operation_id: Option<OperationId>,
        /// In what respect.
        kind: DriftKind,
        /// What must be shown.
        expected: Side,
        /// What was shown.
        observed: Side,
        /// Version of the desired state that it was compared with.
        version: i64,
        /// When it happened.
        at: Timestamp,
    },
    /// A detected drift is gone: by a push, or by itself.
    #[serde(rename = "entitlement.drift_corrected")]
    DriftCorrected {
        /// The operation that pushed or looked; absent for a look that a hint of the panel led to.
        operation_id: Option<OperationId>,
        /// In what respect.
        kind: DriftKind,
        /// Version of the desired state that is shown.
        version: i64,
        /// When it happened.
        at: Timestamp,
    },
}

impl DomainEvent for Event {
    fn event_type(&self) -> String {
        match self {
            Self::Granted { .. } => "entitlement.granted",
            Self::Extended { .. } => "entitlement.extended",
            Self::EndMoved { .. } => "entitlement.end_moved",
            Self::LimitsChanged { .. } => "entitlement.limits_changed",
            Self::SquadsChanged { .. } => "entitlement.squads_changed",
            Self::Enabled { .. } => "entitlement.enabled",
            Self::Disabled { .. } => "entitlement.disabled",
            Self::TrafficReset { .. } => "entitlement.traffic_reset",
            Self::Paused { .. } => "entitlement.paused",
            Self::Resumed { .. } => "entitlement.resumed",
            Self::ChangePlanned { .. } => "entitlement.change_planned",
            Self::ChangeDropped { .. } => "entitlement.change_dropped",
            Self::OperationOpened { .. } => "entitlement.operation_opened",
            Self::Applied { .. } => "entitlement.applied",
            Self::OperationSucceeded { .. } => "entitlement.operation_succeeded",
            Self::OperationFailed { .. } => "entitlement.operation_failed",
            Self::OperationCancelled { .. } => "entitlement.operation_cancelled",
            Self::OperationRetried { .. } => "entitlement.operation_retried",
            Self::DriftDetected { .. } => "entitlement.drift_detected",
            Self::DriftCorrected { .. } => "entitlement.drift_corrected",
        }
        .to_owned()
    }

    fn event_version(&self) -> String {
        let second = matches!(self, Self::Extended { .. });
        if second { "2" } else { "1" }.to_owned()
    }
}
