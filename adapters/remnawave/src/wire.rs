//! The panel's JSON. Reading is tolerant: unknown fields, unknown words and numbers in float form do not break a user.

use chrono::{DateTime, SecondsFormat, Utc};
use domain::{entitlement::RemoteStatus, plan::Limits, time::Timestamp};
use ports::panel::{Push, RemoteUser};
use serde::{Deserialize, Deserializer, Serialize, de::Error as _};
use uuid::Uuid;

use crate::explicit::Explicit;

/// `{"response": …}`.
#[derive(Deserialize)]
pub(crate) struct Envelope<T> {
    pub(crate) response: T,
}

/// A user without its secrets: links, passwords and protocol ids are not even read.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct UserOut {
    #[serde(deserialize_with = "whole")]
    id: i64,
    username: String,
    #[serde(default)]
    status: StatusOut,
    expire_at: DateTime<Utc>,
    #[serde(default, deserialize_with = "whole_or_zero")]
    traffic_limit_bytes: i64,
    #[serde(default, deserialize_with = "whole_or_none")]
    hwid_device_limit: Option<i64>,
    #[serde(default)]
    description: Option<String>,
    #[serde(default)]
    active_internal_squads: Vec<SquadOut>,
    #[serde(default)]
    user_traffic: Option<TrafficOut>,
    #[serde(default)]
    last_traffic_reset_at: Option<DateTime<Utc>>,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
enum StatusOut {
    Active,
    Disabled,
    Limited,
    Expired,
    #[default]
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
pub(crate) struct SquadOut {
    pub(crate) uuid: Uuid,
    #[serde(default)]
    pub(crate) name: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TrafficOut {
    #[serde(default, deserialize_with = "whole_or_zero")]
    used_traffic_bytes: i64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SquadsOut {
    pub(crate) internal_squads: Vec<SquadOut>,
}

#[derive(Deserialize)]
pub(crate) struct MetadataOut {
    pub(crate) version: String,
}

/// `POST /users`. The squads are always sent, and no limit is ever null: null is refused there.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CreateIn<'a> {
    username: &'a str,
    description: &'a str,
    expire_at: String,
    status: &'static str,
    traffic_limit_bytes: i64,
    hwid_device_limit: i32,
    active_internal_squads: &'a [Uuid],
}

/// `PATCH /users`. Every field of ours is sent each time, so that repeating it changes nothing.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct UpdateIn<'a> {
    id: i64,
    expire_at: String,
    traffic_limit_bytes: i64,
    hwid_device_limit: i32,
    active_internal_squads: &'a [Uuid],
    #[serde(skip_serializing_if = "Explicit::is_kept")]
    status: Explicit<&'static str>,
}

impl<'a> CreateIn<'a> {
    pub(crate) fn new(username: &'a str, description: &'a str, push: &'a Push) -> Self {
        Self {
            username,
            description,
            expire_at: iso(push.expire_at),
            status: if push.shut { "DISABLED" } else { "ACTIVE" },
            traffic_limit_bytes: traffic(&push.limits),
            hwid_device_limit: devices(&push.limits),
            active_internal_squads: &push.limits.squads,
        }
    }
}

impl<'a> UpdateIn<'a> {
    pub(crate) fn new(id: i64, push: &'a Push) -> Self {
        Self {
            id,
            expire_at: iso(push.expire_at),
            traffic_limit_bytes: traffic(&push.limits),
            hwid_device_limit: devices(&push.limits),
            active_internal_squads: &push.limits.squads,
            status: if push.activate {
                Explicit::Set("ACTIVE")
            } else {
                Explicit::Keep
            },
        }
    }
}

/// 0 is unlimited to the panel.
fn traffic(limits: &Limits) -> i64 {
    limits.traffic_bytes.unwrap_or(0)
}

/// 0 is unlimited to the panel; null would be its own fallback limit.
fn devices(limits: &Limits) -> i32 {
    limits.devices.unwrap_or(0)
}

fn iso(at: Timestamp) -> String {
    at.to_rfc3339_opts(SecondsFormat::Millis, true)
}

impl From<UserOut> for RemoteUser {
    fn from(user: UserOut) -> Self {
        Self {
            id: user.id,
            username: user.username,
            status: match user.status {
                StatusOut::Active => RemoteStatus::Active,
                StatusOut::Disabled => RemoteStatus::Disabled,
                StatusOut::Limited => RemoteStatus::Limited,
                StatusOut::Expired => RemoteStatus::Expired,
                StatusOut::Other => RemoteStatus::Other,
            },
            expire_at: user.expire_at,
            traffic_limit_bytes: user.traffic_limit_bytes,
            used_traffic_bytes: user.user_traffic.map_or(0, |traffic| traffic.used_traffic_bytes),
            device_limit: user.hwid_device_limit,
            squads: user
                .active_internal_squads
                .into_iter()
                .map(|squad| squad.uuid)
                .collect(),
            description: user.description,
            traffic_reset_at: user.last_traffic_reset_at,
        }
    }
}

/// A JSON number is a double to the panel: `7`, `7.0` and `7e0` are the same.
#[derive(Deserialize)]
#[serde(untagged)]
enum Number {
    Whole(i64),
    Float(f64),
}

impl Number {
    /// Exact up to 2^53 − 1, as the panel's own numbers are.
    fn whole(&self) -> Option<i64> {
        match self {
            Self::Whole(number) => Some(*number),
            Self::Float(number) if number.fract() == 0.0 && number.abs() <= 9_007_199_254_740_991.0 => {
                format!("{number:.0}").parse().ok()
            }
            Self::Float(_) => None,
        }
    }
}

fn whole<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    Number::deserialize(deserializer)?
        .whole()
        .ok_or_else(|| D::Error::custom("not a whole number"))
}

fn whole_or_none<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<i64>, D::Error> {
    let number = Option::<Number>::deserialize(deserializer)?;
    number
        .map(|number| number.whole().ok_or_else(|| D::Error::custom("not a whole number")))
        .transpose()
}

fn whole_or_zero<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    whole_or_none(deserializer).map(Option::unwrap_or_default)
}

#[cfg(test)]
mod tests;
