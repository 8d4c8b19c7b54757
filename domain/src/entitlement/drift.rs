//! Where the panel differs from what it must show. A pure comparison: who reads the panel and what follows is decided elsewhere.
//!
//! Rules of spec/operations 2.4 and spec/commerce 6.7, with these readings:
//! - instants are compared by the millisecond, which is what the panel keeps;
//! - unlimited is 0 to the panel; for devices its own `null` passes, too;
//! - a user who is paused or locked must be shut: its end may pass meanwhile;
//! - a user whose right is over needs only to be shut: what else it shows, or that it is gone, is no drift;
//! - the panel marks an ended user within half a minute, so around the end both answers pass for [`PANEL_SETTLES_SECONDS`];
//! - a status word that this version does not know is no evidence of a difference.

use chrono::SubsecRound as _;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use uuid::Uuid;

use super::{Access, DesiredState, RemoteStatus};
use crate::{money::MAX_MINOR, plan::Limits, time::Timestamp};

/// How long around the end of a right the panel may still, or already, call its user something else, in seconds.
pub const PANEL_SETTLES_SECONDS: i64 = 60;

/// In what respect the panel differs. The words are API and stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DriftKind {
    /// The panel has no such user.
    MissingRemote,
    /// Another end.
    Expiry,
    /// Another limit of traffic.
    Traffic,
    /// Another limit of devices.
    DeviceLimit,
    /// Other squads.
    Squads,
    /// Shut where it must be open, or open where it must be shut.
    Status,
}

impl DriftKind {
    /// Every kind, in the order of comparison.
    pub const ALL: [Self; 6] = [
        Self::MissingRemote,
        Self::Expiry,
        Self::Traffic,
        Self::DeviceLimit,
        Self::Squads,
        Self::Status,
    ];

    /// As stored.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::MissingRemote => "missing_remote",
            Self::Expiry => "expiry",
            Self::Traffic => "traffic",
            Self::DeviceLimit => "device_limit",
            Self::Squads => "squads",
            Self::Status => "status",
        }
    }
}

/// One side of a difference: `{"exists": …}` for a user as a whole, `{"value": …}` for a field of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Side {
    /// Whether there is a user.
    Exists {
        /// There is.
        exists: bool,
    },
    /// What a field says; null is unlimited, or the panel's own default.
    Value {
        /// The field's value.
        value: Value,
    },
}

/// One difference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// In what respect.
    pub kind: DriftKind,
    /// What must be shown.
    pub expected: Side,
    /// What is shown.
    pub observed: Side,
}

/// A user of the panel, as far as it is compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observed {
    /// Its end.
    pub expire_at: Timestamp,
    /// Bytes; 0 is unlimited.
    pub traffic_limit_bytes: i64,
    /// 0 is unlimited; `None` is the panel's own default.
    pub device_limit: Option<i64>,
    /// In any order.
    pub squads: Vec<Uuid>,
    /// What the panel calls it.
    pub status: RemoteStatus,
}

/// Every difference between what must be shown at `now` and what is; `None` is a user that does not exist. At most one of each kind.
pub fn compare(desired: &DesiredState, observed: Option<&Observed>, now: Timestamp) -> Vec<Difference> {
    let over = desired.expire_at <= now;
    match observed {
        None if over => Vec::new(),
        None => vec![Difference {
            kind: DriftKind::MissingRemote,
            expected: Side::Exists { exists: true },
            observed: Side::Exists { exists: false },
        }],
        Some(user) if over => after_the_end(desired, user, now),
        Some(user) => while_it_lasts(desired, user, now),
    }
}

fn while_it_lasts(desired: &DesiredState, user: &Observed, now: Timestamp) -> Vec<Difference> {
    let must_be_open = desired.access == Access::Open;
    let (agrees, wanted) = match user.status {
        RemoteStatus::Other => (true, RemoteStatus::Active),
        RemoteStatus::Active | RemoteStatus::Limited => (must_be_open, RemoteStatus::Disabled),
        RemoteStatus::Expired => (!must_be_open || is_around(desired.expire_at, now), RemoteStatus::Active),
        RemoteStatus::Disabled => (!must_be_open, RemoteStatus::Active),
    };
    [
        expiry(desired, user),
        traffic(&desired.limits, user),
        devices(&desired.limits, user),
        squads(&desired.limits, user),
        status(agrees, wanted, user),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Only access that is still open is worth a word; its end is named beside it where that is why.
fn after_the_end(desired: &DesiredState, user: &Observed, now: Timestamp) -> Vec<Difference> {
    let shut = match user.status {
        RemoteStatus::Disabled | RemoteStatus::Expired | RemoteStatus::Other => true,
        RemoteStatus::Active | RemoteStatus::Limited => is_around(desired.expire_at, now),
    };
    match status(shut, RemoteStatus::Disabled, user) {
        Some(open) => expiry(desired, user).into_iter().chain([open]).collect(),
        None => Vec::new(),
    }
}

fn is_around(end: Timestamp, now: Timestamp) -> bool {
    end.signed_duration_since(now).num_seconds().abs() < PANEL_SETTLES_SECONDS
}

fn expiry(desired: &DesiredState, user: &Observed) -> Option<Difference> {
    let (wanted, shown) = (desired.expire_at.trunc_subsecs(3), user.expire_at.trunc_subsecs(3));
    (wanted != shown).then(|| difference(DriftKind::Expiry, json!(wanted), json!(shown)))
}

fn traffic(limits: &Limits, user: &Observed) -> Option<Difference> {
    let wanted = limits.traffic_bytes;
    (wanted.unwrap_or(0) != user.traffic_limit_bytes).then(|| {
        difference(
            DriftKind::Traffic,
            number(wanted),
            number(Some(user.traffic_limit_bytes)),
        )
    })
}

fn devices(limits: &Limits, user: &Observed) -> Option<Difference> {
    let wanted = limits.devices.map(i64::from);
    (wanted.unwrap_or(0) != user.device_limit.unwrap_or(0))
        .then(|| difference(DriftKind::DeviceLimit, number(wanted), number(user.device_limit)))
}

fn squads(limits: &Limits, user: &Observed) -> Option<Difference> {
    let sorted = |squads: &[Uuid]| {
        let mut squads = squads.to_vec();
        squads.sort_unstable();
        squads
    };
    let (wanted, shown) = (sorted(&limits.squads), sorted(&user.squads));
    (wanted != shown).then(|| difference(DriftKind::Squads, json!(wanted), json!(shown)))
}

fn status(agrees: bool, wanted: RemoteStatus, user: &Observed) -> Option<Difference> {
    (!agrees).then(|| difference(DriftKind::Status, json!(wanted), json!(user.status)))
}

fn difference(kind: DriftKind, expected: Value, observed: Value) -> Difference {
    Difference {
        kind,
        expected: Side::Value { value: expected },
        observed: Side::Value { value: observed },
    }
}

/// What the log can hold exactly: a panel may show a number beyond that, and then the nearest one is told.
fn number(value: Option<i64>) -> Value {
    json!(value.map(|number| number.clamp(-MAX_MINOR, MAX_MINOR)))
}
