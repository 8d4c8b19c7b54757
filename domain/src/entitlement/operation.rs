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
    Create,
    Reconcile,
    Extend,
    SetLimits,
    SetSquads,
    Enable,
    Disable,
    ResetTraffic,
    /// Stored by a version that knew more, or by hand.
    Unknown(String),
}

/// How an operation ended, or that it has not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Open,
    Succeeded,
    Failed,
    Cancelled,
}

/// An operation as its stream knows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OperationState {
    pub kind: OperationKind,
    /// Desired version it was opened for.
    pub version: i64,
    pub order_id: Option<OrderId>,
    pub effective_at: Option<Timestamp>,
    pub outcome: Outcome,
}

/// What a new operation needs besides its change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenOperation {
    pub operation_id: OperationId,
    /// As in spec/commerce 6.4: `order:<id>:fulfill`, `reconcile:<entitlement>:<bucket>`, …
    pub idempotency_key: String,
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
