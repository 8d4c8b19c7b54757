//! What a plan grants, as it was sold: a snapshot that later edits of the catalog cannot change.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::ids::PlanVersionId;

/// The terms of one plan version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Terms {
    /// The version that was sold.
    pub plan_version_id: PlanVersionId,
    /// The plan's stable code.
    pub plan_code: String,
    /// Length of one period, in seconds. Greater than zero.
    pub duration_seconds: i64,
    /// How long access stays open after the paid end, in seconds. Not negative.
    pub grace_seconds: i64,
    /// What may be used in a period.
    pub limits: Limits,
}

/// What the remote user may use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Limits {
    /// Bytes of traffic; `None` is unlimited.
    pub traffic_bytes: Option<i64>,
    /// Devices at once; `None` is unlimited.
    pub devices: Option<i32>,
    /// Squads of the panel, sorted and without repeats, so that equal choices are equal bytes.
    pub squads: Vec<Uuid>,
}
