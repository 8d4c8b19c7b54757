//! Routes that change a user.

use std::sync::Arc;

use axum::{
    body::Bytes,
    extract::{Path, State as Shared},
    http::StatusCode,
    response::Response,
};
use domain::time::Timestamp;
use rand::{Rng as _, distr::Alphanumeric};

use super::{user_id, webhook};
use crate::panel::{
    Panel,
    answer::{Failure, envelope},
    change,
    input::{Create, Patch},
    shown,
    state::{Effect, State},
};

pub(super) async fn create(Shared(panel): Shared<Arc<Panel>>, body: Bytes) -> Result<Response, Failure> {
    let input = Create::read(&body)?;
    let short_uuid: String = rand::rng().sample_iter(Alphanumeric).take(16).map(char::from).collect();
    carry_out(&panel, StatusCode::CREATED, |state, now| {
        change::create(state, now, input, short_uuid)
    })
}

pub(super) async fn update(Shared(panel): Shared<Arc<Panel>>, body: Bytes) -> Result<Response, Failure> {
    let input = Patch::read(&body, panel.now())?;
    carry_out(&panel, StatusCode::OK, |state, now| change::patch(state, now, input))
}

pub(super) async fn enable(Shared(panel): Shared<Arc<Panel>>, Path(id): Path<String>) -> Result<Response, Failure> {
    let id = user_id(&id)?;
    carry_out(&panel, StatusCode::OK, |state, now| change::enable(state, now, id))
}

pub(super) async fn disable(Shared(panel): Shared<Arc<Panel>>, Path(id): Path<String>) -> Result<Response, Failure> {
    let id = user_id(&id)?;
    carry_out(&panel, StatusCode::OK, |state, now| change::disable(state, now, id))
}

pub(super) async fn reset_traffic(
    Shared(panel): Shared<Arc<Panel>>,
    Path(id): Path<String>,
) -> Result<Response, Failure> {
    let id = user_id(&id)?;
    carry_out(&panel, StatusCode::OK, |state, now| {
        change::reset_traffic(state, now, id)
    })
}

pub(super) async fn delete(Shared(panel): Shared<Arc<Panel>>, Path(id): Path<String>) -> Result<StatusCode, Failure> {
    let id = user_id(&id)?;
    carry_out(&panel, StatusCode::NO_CONTENT, |state, _| change::delete(state, id))?;
    Ok(StatusCode::NO_CONTENT)
}

/// Decides, records, and answers with the user as it then is.
fn carry_out(
    panel: &Panel,
    status: StatusCode,
    decide: impl FnOnce(&State, Timestamp) -> Result<Effect, Failure>,
) -> Result<Response, Failure> {
    let now = panel.now();
    let mut done = None;
    panel.ledger.change(
        now,
        |state| {
            let effect = decide(state, now)?;
            done = Some((effect.clone(), effect_user(state, &effect)));
            Ok(Some(effect))
        },
        |_| Ok::<(), Failure>(()),
    )?;
    let Some((effect, Some(user))) = done else {
        return Err(Failure::UPDATE_FAILED);
    };
    webhook::send(panel, &effect, &user, now);
    let shown = match effect {
        Effect::UserEnabled { .. } => shown::user_with(&user, user.status),
        _ => shown::user(&user, now),
    };
    Ok(envelope(status, &shown))
}

/// The user after an effect; of a deletion the user before it.
fn effect_user(state: &State, effect: &Effect) -> Option<crate::panel::User> {
    match effect {
        Effect::UserDeleted { id } => state.get(*id).cloned(),
        other => other.user().cloned(),
    }
}
