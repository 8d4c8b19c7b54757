//! A user as the simulator keeps it.

use domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// As on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Status {
    Active,
    Disabled,
    Limited,
    Expired,
}

/// A whole user. Its protocol secrets are made up from its id and are not kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct User {
    pub id: i64,
    pub short_uuid: String,
    pub username: String,
    /// As last set; what is shown follows from it and the clock.
    pub status: Status,
    pub traffic_limit_bytes: i64,
    pub traffic_limit_strategy: String,
    pub expire_at: Timestamp,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub telegram_id: Option<i64>,
    pub email: Option<String>,
    pub description: Option<String>,
    pub tag: Option<String>,
    pub hwid_device_limit: Option<i64>,
    pub external_squad_uuid: Option<Uuid>,
    pub active_internal_squads: Vec<Uuid>,
    pub used_traffic_bytes: i64,
    pub lifetime_used_traffic_bytes: i64,
    pub last_traffic_reset_at: Option<Timestamp>,
}

impl User {
    /// What the watchdogs would have made of the status by `now`.
    pub fn status_at(&self, now: Timestamp) -> Status {
        let open = matches!(self.status, Status::Active | Status::Limited);
        let used_up = self.traffic_limit_bytes > 0 && self.used_traffic_bytes >= self.traffic_limit_bytes;
        if open && self.expire_at <= now {
            Status::Expired
        } else if self.status == Status::Active && used_up {
            Status::Limited
        } else {
            self.status
        }
    }

    /// The user with the status that it shows: the base of every change.
    pub(super) fn settled(&self, now: Timestamp) -> Self {
        Self {
            status: self.status_at(now),
            ..self.clone()
        }
    }
}

impl Status {
    pub(super) fn parse(text: &str) -> Option<Self> {
        match text {
            "ACTIVE" => Some(Self::Active),
            "DISABLED" => Some(Self::Disabled),
            "LIMITED" => Some(Self::Limited),
            "EXPIRED" => Some(Self::Expired),
            _ => None,
        }
    }
}
