//! The rules by which a user changes. Each takes the state and the time and yields an effect or a refusal.

use chrono::SubsecRound as _;
use domain::time::Timestamp;
use uuid::Uuid;

use super::{
    answer::Failure,
    input::{Create, Fields, Patch},
    shown::squad_name,
    state::{Effect, State},
    user::{Status, User},
};

/// `POST /users`. `short_uuid` is used when the body brings none.
pub(super) fn create(state: &State, now: Timestamp, input: Create, short_uuid: String) -> Result<Effect, Failure> {
    let short_uuid = input.short_uuid.unwrap_or(short_uuid);
    if state.by_username(&input.username).is_some() {
        return Err(Failure::USERNAME_TAKEN);
    }
    if state.by_short_uuid(&short_uuid).is_some() {
        return Err(Failure::SHORT_UUID_TAKEN);
    }
    if !squads_exist(&input.fields) {
        return Err(Failure::CREATE_FAILED);
    }
    let now = now.trunc_subsecs(3);
    let mut user = User {
        id: state.next_id(),
        short_uuid,
        username: input.username,
        status: input.status,
        traffic_limit_bytes: 0,
        traffic_limit_strategy: "NO_RESET".to_owned(),
        expire_at: input.expire_at,
        created_at: now,
        updated_at: now,
        telegram_id: None,
        email: None,
        description: None,
        tag: None,
        hwid_device_limit: None,
        external_squad_uuid: None,
        active_internal_squads: Vec::new(),
        used_traffic_bytes: 0,
        lifetime_used_traffic_bytes: 0,
        last_traffic_reset_at: None,
    };
    put_fields(&mut user, input.fields);
    Ok(Effect::UserCreated { user })
}

/// `PATCH /users`: by id, or by name when no id is given.
pub(super) fn patch(state: &State, now: Timestamp, input: Patch) -> Result<Effect, Failure> {
    let found = match (input.id, &input.username) {
        (Some(id), _) => state.get(id),
        (None, Some(username)) => state.by_username(username),
        (None, None) => None,
    };
    let mut user = found.ok_or(Failure::NOT_FOUND)?.settled(now);
    if !squads_exist(&input.fields) {
        return Err(Failure::UPDATE_FAILED);
    }
    let raised = input
        .fields
        .traffic_limit_bytes
        .is_some_and(|new| new == 0 || new > user.traffic_limit_bytes);
    let prolonged = input.expire_at.is_some_and(|new| new != user.expire_at);
    user.status = match (user.status, input.status) {
        (Status::Active, Some(Status::Disabled)) => Status::Disabled,
        (_, Some(Status::Active)) => Status::Active,
        (Status::Limited, _) if raised => Status::Active,
        (Status::Expired, None) if prolonged => Status::Active,
        (status, _) => status,
    };
    user.expire_at = input.expire_at.unwrap_or(user.expire_at);
    user.updated_at = now.trunc_subsecs(3);
    put_fields(&mut user, input.fields);
    Ok(Effect::UserPatched { user })
}

/// `…/actions/enable`: does not look at the expiry.
pub(super) fn enable(state: &State, now: Timestamp, id: i64) -> Result<Effect, Failure> {
    let mut user = found(state, now, id)?;
    if user.status == Status::Active {
        return Err(Failure::ALREADY_ENABLED);
    }
    user.status = Status::Active;
    Ok(Effect::UserEnabled { user })
}

/// `…/actions/disable`.
pub(super) fn disable(state: &State, now: Timestamp, id: i64) -> Result<Effect, Failure> {
    let mut user = found(state, now, id)?;
    if user.status == Status::Disabled {
        return Err(Failure::ALREADY_DISABLED);
    }
    user.status = Status::Disabled;
    Ok(Effect::UserDisabled { user })
}

/// `…/actions/reset-traffic`.
pub(super) fn reset_traffic(state: &State, now: Timestamp, id: i64) -> Result<Effect, Failure> {
    let mut user = found(state, now, id)?;
    if user.status == Status::Limited {
        user.status = Status::Active;
    }
    user.used_traffic_bytes = 0;
    user.last_traffic_reset_at = Some(now.trunc_subsecs(3));
    Ok(Effect::TrafficReset { user })
}

/// `DELETE /users/{id}`.
pub(super) fn delete(state: &State, id: i64) -> Result<Effect, Failure> {
    state
        .get(id)
        .map(|_| Effect::UserDeleted { id })
        .ok_or(Failure::NOT_FOUND)
}

/// A test's use of traffic.
pub(super) fn set_traffic(state: &State, now: Timestamp, id: i64, bytes: i64) -> Result<Effect, Failure> {
    let mut user = found(state, now, id)?;
    let more = bytes.saturating_sub(user.used_traffic_bytes).max(0);
    user.lifetime_used_traffic_bytes = user.lifetime_used_traffic_bytes.saturating_add(more);
    user.used_traffic_bytes = bytes;
    Ok(Effect::TrafficSet { user })
}

fn found(state: &State, now: Timestamp, id: i64) -> Result<User, Failure> {
    let mut user = state.get(id).ok_or(Failure::NOT_FOUND)?.settled(now);
    user.updated_at = now.trunc_subsecs(3);
    Ok(user)
}

fn squads_exist(fields: &Fields) -> bool {
    fields
        .active_internal_squads
        .iter()
        .flatten()
        .all(|squad: &Uuid| squad_name(*squad).is_some())
}

fn put_fields(user: &mut User, fields: Fields) {
    user.traffic_limit_bytes = fields.traffic_limit_bytes.unwrap_or(user.traffic_limit_bytes);
    if let Some(strategy) = fields.traffic_limit_strategy {
        user.traffic_limit_strategy = strategy;
    }
    fields.telegram_id.put(&mut user.telegram_id);
    fields.email.put(&mut user.email);
    fields.description.put(&mut user.description);
    fields.tag.put(&mut user.tag);
    fields.hwid_device_limit.put(&mut user.hwid_device_limit);
    fields.external_squad_uuid.put(&mut user.external_squad_uuid);
    if let Some(squads) = fields.active_internal_squads {
        user.active_internal_squads = squads;
    }
}
