//! The methods. A text is in the journal before its answer leaves.

use std::sync::Arc;

use axum::{
    Router,
    extract::{Path, State},
    response::{IntoResponse as _, Response},
    routing::post,
};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};

use super::{
    BotServer, Effect,
    answer::{Failure, result},
    change,
};

/// `sendMessage`.
#[derive(Deserialize)]
pub(super) struct SendIn {
    pub(super) chat_id: i64,
    pub(super) message_thread_id: Option<i64>,
    pub(super) text: String,
    pub(super) parse_mode: Option<String>,
}

/// `createForumTopic`.
#[derive(Deserialize)]
pub(super) struct CreateIn {
    pub(super) chat_id: i64,
    pub(super) name: String,
}

/// `editForumTopic`.
#[derive(Deserialize)]
pub(super) struct RenameIn {
    pub(super) chat_id: i64,
    pub(super) message_thread_id: i64,
    pub(super) name: String,
}

pub(super) fn router(server: &Arc<BotServer>) -> Router {
    Router::new()
        .route("/{bot}/{method}", post(call).get(call_without_body))
        .with_state(server.clone())
}

async fn call_without_body(server: State<Arc<BotServer>>, path: Path<(String, String)>) -> Response {
    call(server, path, String::new()).await
}

/// Method names are read without regard to case, as the real servers do; an empty body is no parameters.
async fn call(
    State(server): State<Arc<BotServer>>,
    Path((bot, method)): Path<(String, String)>,
    body: String,
) -> Response {
    if bot.strip_prefix("bot") != Some(server.context.token.as_str()) {
        return Failure::unauthorized().into_response();
    }
    let outcome = match method.to_ascii_lowercase().as_str() {
        "getme" => Ok(me(&server.context.token)),
        "sendmessage" => parameters(&body).and_then(|input| send(&server, input)),
        "createforumtopic" => parameters(&body).and_then(|input| create(&server, input)),
        "editforumtopic" => parameters(&body).and_then(|input| rename(&server, input)),
        _ => Err(Failure::not_found()),
    };
    match outcome {
        Ok(value) => result(&value),
        Err(failure) => failure.into_response(),
    }
}

fn parameters<T: DeserializeOwned>(body: &str) -> Result<T, Failure> {
    serde_json::from_str(body).map_err(|_| Failure::bad_request("parameters are missing or of the wrong type"))
}

fn me(token: &str) -> Value {
    let id: i64 = token.split(':').next().and_then(|id| id.parse().ok()).unwrap_or(1);
    json!({ "id": id, "is_bot": true, "first_name": "Sandbox", "username": "sandbox_bot", "can_join_groups": true })
}

fn send(server: &BotServer, input: SendIn) -> Result<Value, Failure> {
    let (now, knobs) = (server.context.clock.now(), server.knobs.get());
    let (chat_id, topic_id) = (input.chat_id, input.message_thread_id);
    let id = server.ledger.change(
        now,
        |state| change::send(state, now, &knobs, input).map(Some),
        |state| Ok::<_, Failure>(state.next_id().saturating_sub(1)),
    )?;
    Ok(json!({
        "message_id": id, "message_thread_id": topic_id, "date": now.timestamp(),
        "chat": { "id": chat_id, "type": "supergroup", "title": "Operators", "is_forum": true },
    }))
}

fn create(server: &BotServer, input: CreateIn) -> Result<Value, Failure> {
    let knobs = server.knobs.get();
    let name = input.name.clone();
    let id = server.ledger.change(
        server.context.clock.now(),
        |state| change::create(state, &knobs, input).map(Some),
        |state| Ok::<_, Failure>(state.next_id().saturating_sub(1)),
    )?;
    Ok(json!({ "message_thread_id": id, "name": name, "icon_color": 7_322_096 }))
}

fn rename(server: &BotServer, input: RenameIn) -> Result<Value, Failure> {
    let knobs = server.knobs.get();
    server.ledger.change(
        server.context.clock.now(),
        |state| change::rename(state, &knobs, input).map(Some::<Effect>),
        |_| Ok::<_, Failure>(Value::Bool(true)),
    )
}
