//! `/control/telegram/…`: knobs, and topics that somebody deletes.

use std::sync::Arc;

use axum::{
    Json, Router,
    extract::{Path, State},
    http::StatusCode,
    routing::{get, post},
};

use super::{BotServer, Effect, TelegramKnobs};
use crate::control::Refusal;

pub(super) fn router(server: &Arc<BotServer>) -> Router {
    Router::new()
        .route("/knobs", get(knobs).put(set_knobs))
        .route("/topics/{id}/delete", post(delete_topic))
        .with_state(server.clone())
}

async fn knobs(State(server): State<Arc<BotServer>>) -> Json<TelegramKnobs> {
    Json(server.knobs.get())
}

async fn set_knobs(State(server): State<Arc<BotServer>>, Json(knobs): Json<TelegramKnobs>) -> StatusCode {
    server.knobs.set(knobs);
    StatusCode::NO_CONTENT
}

async fn delete_topic(State(server): State<Arc<BotServer>>, Path(topic_id): Path<i64>) -> Result<StatusCode, Refusal> {
    server.ledger.change(
        server.context.clock.now(),
        |state| match state.topic(topic_id) {
            Some(_) => Ok(Some(Effect::TopicDeleted { topic_id })),
            None => Err(Refusal::not_found("no such topic")),
        },
        |_| Ok(()),
    )?;
    Ok(StatusCode::NO_CONTENT)
}
