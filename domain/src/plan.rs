//! What a plan grants, as it was sold: a snapshot that later edits of the catalog cannot change.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{ids::PlanVersionId, money::MAX_MINOR};

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
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Limits {
    /// Bytes of traffic; `None` is unlimited.
    pub traffic_bytes: Option<i64>,
    /// Devices at once; `None` is unlimited.
    pub devices: Option<i32>,
    /// Squads of the panel, sorted and without repeats, so that equal choices are equal bytes.
    pub squads: Vec<Uuid>,
}

/// Longest period and longest grace, in seconds: a hundred years of 365.25 days.
pub const MAX_SPAN_SECONDS: i64 = 3_155_760_000;

impl Terms {
    /// A period of at least one second, a grace that is not negative, neither beyond [`MAX_SPAN_SECONDS`], and valid limits.
    pub fn are_valid(&self) -> bool {
        (1..=MAX_SPAN_SECONDS).contains(&self.duration_seconds)
            && (0..=MAX_SPAN_SECONDS).contains(&self.grace_seconds)
            && self.limits.are_valid()
    }
}

impl Limits {
    /// Nothing negative. Traffic stays within what JSON numbers hold exactly; zero is refused, because the panel reads it as unlimited.
    pub fn are_valid(&self) -> bool {
        self.traffic_bytes.is_none_or(|bytes| (1..=MAX_MINOR).contains(&bytes))
            && self.devices.is_none_or(|devices| devices >= 1)
    }

    /// The same limits with squads sorted and without repeats.
    #[must_use]
    pub fn normalised(mut self) -> Self {
        self.squads.sort_unstable();
        self.squads.dedup();
        self
    }
}
