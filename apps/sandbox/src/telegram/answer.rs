//! Envelopes of the Bot API: `{ok, result}` and `{ok, error_code, description, parameters?}`, the status being the code.

use axum::{
    Json,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use serde_json::{Value, json};

use crate::SandboxError;

pub(super) fn result(value: &Value) -> Response {
    Json(json!({ "ok": true, "result": value })).into_response()
}

/// A refusal, in the words of the real servers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Failure {
    status: u16,
    description: String,
    parameters: Option<Value>,
}

impl Failure {
    pub(super) fn bad_request(said: &str) -> Self {
        Self::of(400, format!("Bad Request: {said}"))
    }

    pub(super) fn forbidden(said: &str) -> Self {
        Self::of(403, format!("Forbidden: {said}"))
    }

    pub(super) fn unauthorized() -> Self {
        Self::of(401, "Unauthorized".to_owned())
    }

    pub(super) fn not_found() -> Self {
        Self::of(404, "Not Found".to_owned())
    }

    pub(super) fn flood(seconds: i64) -> Self {
        Self {
            parameters: Some(json!({ "retry_after": seconds })),
            ..Self::of(429, format!("Too Many Requests: retry after {seconds}"))
        }
    }

    pub(super) fn moved(to: i64) -> Self {
        Self {
            parameters: Some(json!({ "migrate_to_chat_id": to })),
            ..Self::bad_request("group chat was upgraded to a supergroup chat")
        }
    }

    fn of(status: u16, description: String) -> Self {
        Self {
            status,
            description,
            parameters: None,
        }
    }
}

impl From<SandboxError> for Failure {
    fn from(error: SandboxError) -> Self {
        tracing::error!(%error, "a text was not recorded, so it does not stand in the group");
        Self::of(500, "Internal Server Error".to_owned())
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let mut body = json!({ "ok": false, "error_code": self.status, "description": self.description });
        if let (Some(parameters), Some(fields)) = (self.parameters, body.as_object_mut()) {
            fields.insert("parameters".to_owned(), parameters);
        }
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        (status, Json(body)).into_response()
    }
}
