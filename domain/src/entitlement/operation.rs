//! Operations on an entitlement: convergences of the panel to its desired state.

use serde::{Deserialize, Serialize};

use crate::{
    ids::{OperationId, OrderId},
    time::Timestamp,
};

/// The eight operations of the seeds. A text outside them is kept as it came, fails for good and is visible.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum OperationKind {
    /// Makes the remote user, or finds it.
    Create,
    /// Compares, and pushes what differs.
    Reconcile,
    /// Pushes a longer period.
    Extend,
    /// Pushes other limits.
    SetLimits,
    /// Pushes other squads.
    SetSquads,
    /// Opens the remote user.
    Enable,
    /// Shuts the remote user.
    Disable,
    /// Starts used traffic anew.
    ResetTraffic,
    /// Stored by a version that knew more, or by hand.
    Unknown(String),
}

/// How an operation ended, or that it has not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Not yet.
    Open,
    /// The panel shows what it was for.
    Succeeded,
    /// Gave up for good; an operator may give it a new budget.
    Failed,
    /// An operator abandoned it.
    Cancelled,
}

/// An operation as its stream knows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OperationState {
    /// What it does.
    pub kind: OperationKind,
    /// Desired version it was opened for.
    pub version: i64,
    /// The order that paid for it; absent for upkeep.
    pub order_id: Option<OrderId>,
    /// Not to be shown before; absent means at once.
    pub effective_at: Option<Timestamp>,
    /// The moment that its change was planned for; absent where it was made at once.
    pub planned_for: Option<Timestamp>,
    /// Unique among all operations.
    pub idempotency_key: String,
    /// When it was opened.
    pub opened_at: Timestamp,
    /// How it ended, or that it has not.
    pub outcome: Outcome,
}

/// What a new operation needs besides its change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenOperation {
    /// Its id, made by the caller.
    pub operation_id: OperationId,
    /// As in spec/commerce 6.4: `order:<id>:fulfill`, `reconcile:<entitlement>:<bucket>`, …
    pub idempotency_key: String,
    /// The flow it belongs to.
    pub correlation_id: String,
}

impl From<String> for OperationKind {
    fn from(text: String) -> Self {
        match text.as_str() {
            "create" => Self::Create,
            "reconcile" => Self::Reconcile,
            "extend" => Self::Extend,
            "set_limits" => Self::SetLimits,
            "set_squads" => Self::SetSquads,
            "enable" => Self::Enable,
            "disable" => Self::Disable,
            "reset_traffic" => Self::ResetTraffic,
            _ => Self::Unknown(text),
        }
    }
}

impl From<OperationKind> for String {
    fn from(kind: OperationKind) -> Self {
        kind.as_str().to_owned()
    }
}

impl OperationKind {
    /// As stored.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Create => "create",
            Self::Reconcile => "reconcile",
            Self::Extend => "extend",
            Self::SetLimits => "set_limits",
            Self::SetSquads => "set_squads",
            Self::Enable => "enable",
            Self::Disable => "disable",
            Self::ResetTraffic => "reset_traffic",
            Self::Unknown(text) => text,
        }
    }
}
