//! Envelopes of the panel.

use axum::{
    Json,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use domain::time::Timestamp;
use serde_json::{Value, json};

use super::shown::iso;
use crate::SandboxError;

/// `{"response": …}`.
pub(super) fn envelope(status: StatusCode, payload: &Value) -> Response {
    (status, Json(json!({ "response": payload }))).into_response()
}

/// A refusal. It becomes a body only in the outermost layer, which knows the path.
#[derive(Clone, Debug)]
pub(super) enum Failure {
    /// A business error with its code.
    Business {
        status: u16,
        code: &'static str,
        message: &'static str,
    },
    /// The request's form is wrong: 400 without a code.
    Invalid(Vec<Value>),
    /// The framework's own answer: no code either.
    Framework {
        status: u16,
        message: String,
        error: Option<&'static str>,
    },
}

impl Failure {
    pub(super) const USERNAME_TAKEN: Self = Self::business(400, "A019", "User username already exists");
    pub(super) const SHORT_UUID_TAKEN: Self = Self::business(400, "A020", "User short UUID already exists");
    pub(super) const CREATE_FAILED: Self = Self::business(500, "A018", "Failed to create user");
    pub(super) const UPDATE_FAILED: Self = Self::business(500, "A039", "Failed to update user");
    pub(super) const NOT_FOUND: Self = Self::business(404, "A025", "User not found");
    pub(super) const NOT_FOUND_BY_GET: Self = Self::business(404, "A063", "User with specified params not found");
    pub(super) const ALREADY_DISABLED: Self = Self::business(400, "A029", "User already disabled");
    pub(super) const ALREADY_ENABLED: Self = Self::business(400, "A030", "User already enabled");

    const fn business(status: u16, code: &'static str, message: &'static str) -> Self {
        Self::Business { status, code, message }
    }

    pub(super) fn unauthorized() -> Self {
        Self::Framework {
            status: 401,
            message: "Unauthorized".to_owned(),
            error: None,
        }
    }

    pub(super) fn forbidden() -> Self {
        Self::Framework {
            status: 403,
            message: "Forbidden resource".to_owned(),
            error: Some("Forbidden"),
        }
    }

    pub(super) fn unknown_route(method: &str, path: &str) -> Self {
        Self::Framework {
            status: 404,
            message: format!("Cannot {method} {path}"),
            error: Some("Not Found"),
        }
    }

    pub(super) fn not_json() -> Self {
        Self::Framework {
            status: 400,
            message: "Unexpected token in JSON".to_owned(),
            error: Some("Bad Request"),
        }
    }

    /// The body for a path.
    pub(super) fn render(&self, path: &str, now: Timestamp) -> Response {
        let (status, body) = match self {
            Self::Business { status, code, message } => (
                *status,
                json!({ "timestamp": iso(now), "path": path, "message": message, "errorCode": code }),
            ),
            Self::Invalid(errors) => (
                400,
                json!({ "statusCode": 400, "message": "Validation failed", "errors": errors }),
            ),
            Self::Framework { status, message, error } => {
                let mut body = json!({ "statusCode": status, "message": message });
                if let (Some(error), Some(fields)) = (error, body.as_object_mut()) {
                    fields.insert("error".to_owned(), json!(error));
                }
                (*status, body)
            }
        };
        let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        (status, Json(body)).into_response()
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let mut response = StatusCode::INTERNAL_SERVER_ERROR.into_response();
        response.extensions_mut().insert(self);
        response
    }
}

impl From<SandboxError> for Failure {
    fn from(error: SandboxError) -> Self {
        tracing::error!(%error, "the panel simulator could not record an effect");
        Self::business(500, "A001", "Server error")
    }
}
