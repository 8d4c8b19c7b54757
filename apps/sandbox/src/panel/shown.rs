//! A user as the panel shows it.

use chrono::SecondsFormat;
use domain::time::Timestamp;
use serde_json::{Value, json};
use uuid::Uuid;

use super::{
    DEFAULT_SQUADS,
    user::{Status, User},
};

/// ISO 8601, UTC, milliseconds.
pub(super) fn iso(at: Timestamp) -> String {
    at.to_rfc3339_opts(SecondsFormat::Millis, true)
}

/// With the status that the clock gives.
pub(super) fn user(user: &User, now: Timestamp) -> Value {
    user_with(user, user.status_at(now))
}

/// With a given status: an answer to `enable` shows ACTIVE even when the watchdog is about to think otherwise.
pub(super) fn user_with(user: &User, status: Status) -> Value {
    let squads: Vec<Value> = user
        .active_internal_squads
        .iter()
        .map(|squad| json!({ "uuid": squad, "name": squad_name(*squad).unwrap_or("") }))
        .collect();
    let secret = format!("{:032x}", user.id.unsigned_abs());
    json!({
        "id": user.id,
        "shortUuid": user.short_uuid,
        "username": user.username,
        "status": status,
        "trafficLimitBytes": user.traffic_limit_bytes,
        "trafficLimitStrategy": user.traffic_limit_strategy,
        "expireAt": iso(user.expire_at),
        "createdAt": iso(user.created_at),
        "updatedAt": iso(user.updated_at),
        "telegramId": user.telegram_id,
        "email": user.email,
        "description": user.description,
        "tag": user.tag,
        "hwidDeviceLimit": user.hwid_device_limit,
        "externalSquadUuid": user.external_squad_uuid,
        "trojanPassword": format!("simulated-trojan-{secret}"),
        "ssPassword": format!("simulated-ss-{secret}"),
        "vlessUuid": Uuid::from_u128(u128::from(user.id.unsigned_abs())),
        "lastTriggeredThreshold": 0,
        "subRevokedAt": null,
        "lastTrafficResetAt": user.last_traffic_reset_at.map(iso),
        "subscriptionUrl": format!("https://sub.sandbox.invalid/{}", user.short_uuid),
        "activeInternalSquads": squads,
        "userTraffic": {
            "usedTrafficBytes": user.used_traffic_bytes,
            "lifetimeUsedTrafficBytes": user.lifetime_used_traffic_bytes,
            "onlineAt": null,
            "firstConnectedAt": null,
            "lastConnectedNodeUuid": null,
        },
    })
}

/// The name of a squad; `None` when the panel has no such squad.
pub(super) fn squad_name(squad: Uuid) -> Option<&'static str> {
    DEFAULT_SQUADS
        .iter()
        .find(|(id, _)| *id == squad)
        .map(|(_, name)| *name)
}
