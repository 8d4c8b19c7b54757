//! Bodies of `POST /users`, `PATCH /users` and `POST /users/resolve`. Unknown fields are dropped in silence, as the panel does.

use domain::time::Timestamp;
use serde_json::{Map, Value};
use uuid::Uuid;

use super::{
    answer::Failure,
    field::{self, Body, Field},
    user::Status,
};

/// A valid `POST /users`.
#[derive(Debug)]
pub(super) struct Create {
    pub(super) username: String,
    pub(super) expire_at: Timestamp,
    pub(super) short_uuid: Option<String>,
    pub(super) status: Status,
    pub(super) fields: Fields,
}

/// A valid `PATCH /users`.
#[derive(Debug)]
pub(super) struct Patch {
    pub(super) id: Option<i64>,
    pub(super) username: Option<String>,
    pub(super) status: Option<Status>,
    pub(super) expire_at: Option<Timestamp>,
    pub(super) fields: Fields,
}

/// What creating and patching share.
#[derive(Debug, Default)]
pub(super) struct Fields {
    pub(super) traffic_limit_bytes: Option<i64>,
    pub(super) traffic_limit_strategy: Option<String>,
    pub(super) telegram_id: Field<i64>,
    pub(super) email: Field<String>,
    pub(super) description: Field<String>,
    pub(super) tag: Field<String>,
    pub(super) hwid_device_limit: Field<i64>,
    pub(super) active_internal_squads: Option<Vec<Uuid>>,
    pub(super) external_squad_uuid: Field<Uuid>,
}

/// Which user `POST /users/resolve` means.
#[derive(Debug)]
pub(super) enum Selector {
    Id(i64),
    ShortUuid(String),
    Username(String),
}

/// `creating`: null is refused where the panel refuses it on create only.
fn shared(body: &mut Body<'_>, creating: bool) -> Fields {
    Fields {
        traffic_limit_bytes: body.field("trafficLimitBytes", false, field::not_negative).value(),
        traffic_limit_strategy: body.field("trafficLimitStrategy", false, field::strategy).value(),
        telegram_id: body.field("telegramId", true, field::whole),
        email: body.field("email", true, field::email),
        description: body.field("description", !creating, field::text),
        tag: body.field("tag", true, field::tag),
        hwid_device_limit: body.field("hwidDeviceLimit", !creating, field::not_negative),
        active_internal_squads: body.field("activeInternalSquads", false, field::uuids).value(),
        external_squad_uuid: body.field("externalSquadUuid", true, field::uuid),
    }
}

impl Create {
    pub(super) fn read(raw: &[u8]) -> Result<Self, Failure> {
        let fields = object(raw)?;
        let mut body = Body::new(&fields);
        let username = body.require("username", field::username);
        let expire_at = body.require("expireAt", field::instant);
        let status = body
            .field("status", false, |value| value.as_str().and_then(Status::parse))
            .value();
        let short_uuid = body.field("shortUuid", false, field::short_uuid).value();
        let shared = shared(&mut body, true);
        body.finish()?;
        let (Some(username), Some(expire_at)) = (username, expire_at) else {
            return Err(Failure::Invalid(Vec::new()));
        };
        Ok(Self {
            username,
            expire_at,
            short_uuid,
            status: status.unwrap_or(Status::Active),
            fields: shared,
        })
    }
}

impl Patch {
    pub(super) fn read(raw: &[u8], now: Timestamp) -> Result<Self, Failure> {
        let fields = object(raw)?;
        let mut body = Body::new(&fields);
        let id = body.field("id", false, field::whole).value();
        let username = body.field("username", false, field::username).value();
        if id.is_none() && username.is_none() {
            body.refuse("id", "Either id or username must be provided");
        }
        let by_hand = |value: &Value| {
            value
                .as_str()
                .and_then(Status::parse)
                .filter(|status| matches!(status, Status::Active | Status::Disabled))
        };
        let status = body.field("status", false, by_hand).value();
        let expire_at = body.field("expireAt", false, field::instant).value();
        if expire_at.is_some_and(|at| at <= now) {
            body.refuse("expireAt", "Expiration date cannot be in the past");
        }
        let shared = shared(&mut body, false);
        body.finish()?;
        Ok(Self {
            id,
            username,
            status,
            expire_at,
            fields: shared,
        })
    }
}

impl Selector {
    pub(super) fn read(raw: &[u8]) -> Result<Self, Failure> {
        let fields = object(raw)?;
        let mut body = Body::new(&fields);
        let id = body.field("id", false, field::whole).value().map(Self::Id);
        let short_uuid = body.field("shortUuid", false, field::text).value().map(Self::ShortUuid);
        let username = body.field("username", false, field::text).value().map(Self::Username);
        let mut given: Vec<Self> = id.into_iter().chain(short_uuid).chain(username).collect();
        if given.len() != 1 {
            body.refuse("id", "Exactly one of id, shortUuid, username must be provided");
        }
        body.finish()?;
        given.pop().ok_or(Failure::Invalid(Vec::new()))
    }
}

fn object(raw: &[u8]) -> Result<Map<String, Value>, Failure> {
    match serde_json::from_slice(raw) {
        Ok(Value::Object(fields)) => Ok(fields),
        Ok(_) => Err(Failure::Invalid(Vec::new())),
        Err(_) => Err(Failure::not_json()),
    }
}
