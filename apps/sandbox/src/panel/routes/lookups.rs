//! Routes that find users.

use std::{collections::HashMap, sync::Arc};

use axum::{
    body::Bytes,
    extract::{Path, Query, State as Shared},
    http::StatusCode,
    response::Response,
};
use serde_json::{Value, json};

use super::user_id;
use crate::panel::{
    Panel, User,
    answer::{Failure, envelope},
    input::Selector,
    shown,
    state::State,
};

type Params = Query<HashMap<String, String>>;

pub(super) async fn by_id(Shared(panel): Shared<Arc<Panel>>, Path(id): Path<String>) -> Result<Response, Failure> {
    let id = user_id(&id)?;
    one(&panel, |state| state.get(id))
}

pub(super) async fn by_username(
    Shared(panel): Shared<Arc<Panel>>,
    Path(username): Path<String>,
) -> Result<Response, Failure> {
    one(&panel, |state| state.by_username(&username))
}

pub(super) async fn by_short_uuid(
    Shared(panel): Shared<Arc<Panel>>,
    Path(short_uuid): Path<String>,
) -> Result<Response, Failure> {
    one(&panel, |state| state.by_short_uuid(&short_uuid))
}

pub(super) async fn resolve(Shared(panel): Shared<Arc<Panel>>, body: Bytes) -> Result<Response, Failure> {
    let selector = Selector::read(&body)?;
    panel.ledger.read(|state| {
        let user = match &selector {
            Selector::Id(id) => state.get(*id),
            Selector::ShortUuid(short_uuid) => state.by_short_uuid(short_uuid),
            Selector::Username(username) => state.by_username(username),
        };
        let user = user.ok_or(Failure::NOT_FOUND)?;
        let payload = json!({ "id": user.id, "username": user.username, "shortUuid": user.short_uuid });
        Ok(envelope(StatusCode::OK, &payload))
    })
}

/// Page by offset, for the panel's own table.
pub(super) async fn list(Shared(panel): Shared<Arc<Panel>>, Query(params): Params) -> Result<Response, Failure> {
    let start = number(&params, "start", 0, 0, u64::MAX)?;
    let size = number(&params, "size", 25, 1, 1000)?;
    let now = panel.now();
    let payload = panel.ledger.read(|state| {
        let users: Vec<Value> = state
            .after(0)
            .skip(usize_of(start))
            .take(usize_of(size))
            .map(|user| shown::user(user, now))
            .collect();
        json!({ "users": users, "total": state.len() })
    });
    Ok(envelope(StatusCode::OK, &payload))
}

/// Page by cursor, with exact filters.
pub(super) async fn stream(Shared(panel): Shared<Arc<Panel>>, Query(params): Params) -> Result<Response, Failure> {
    let size = usize_of(number(&params, "size", 250, 1, 1000)?);
    let cursor = i64::try_from(number(&params, "cursor", 0, 0, u64::MAX)?).unwrap_or(i64::MAX);
    let now = panel.now();
    let payload = panel.ledger.read(|state| {
        let mut found: Vec<&User> = state
            .after(cursor)
            .filter(|user| passes(user, &shown::user(user, now), &params))
            .take(size.saturating_add(1))
            .collect();
        let has_more = found.len() > size;
        found.truncate(size);
        let next = if has_more {
            found.last().map(|user| user.id.to_string())
        } else {
            None
        };
        let users: Vec<Value> = found.iter().map(|user| shown::user(user, now)).collect();
        json!({ "users": users, "nextCursor": next, "hasMore": has_more })
    });
    Ok(envelope(StatusCode::OK, &payload))
}

fn passes(_user: &User, shown: &Value, params: &HashMap<String, String>) -> bool {
    [
        "status",
        "trafficLimitStrategy",
        "telegramId",
        "email",
        "tag",
        "externalSquadUuid",
    ]
    .iter()
    .all(|name| {
        let Some(wanted) = params.get(*name) else { return true };
        match shown.get(*name) {
            Some(Value::String(text)) => text == wanted,
            Some(Value::Number(number)) => number.to_string() == *wanted,
            _ => false,
        }
    })
}

fn one(panel: &Panel, find: impl FnOnce(&State) -> Option<&User>) -> Result<Response, Failure> {
    let now = panel.now();
    panel.ledger.read(|state| {
        let user = find(state).ok_or(Failure::NOT_FOUND_BY_GET)?;
        Ok(envelope(StatusCode::OK, &shown::user(user, now)))
    })
}

fn number(params: &HashMap<String, String>, name: &str, default: u64, low: u64, high: u64) -> Result<u64, Failure> {
    match params.get(name) {
        None => Ok(default),
        Some(text) => text
            .parse()
            .ok()
            .filter(|value| (low..=high).contains(value))
            .ok_or_else(|| {
                Failure::Invalid(vec![
                    json!({ "code": "invalid", "path": [name], "message": "Invalid input" }),
                ])
            }),
    }
}

fn usize_of(value: u64) -> usize {
    usize::try_from(value).unwrap_or(usize::MAX)
}
