//! Refusals of the control API.

use axum::{
    Json,
    http::StatusCode,
    response::{IntoResponse, Response},
};

use crate::SandboxError;

/// A refused control request: a status and a short text.
#[derive(Debug)]
pub struct Refusal {
    status: StatusCode,
    detail: String,
}

impl Refusal {
    /// What was asked for does not exist.
    pub fn not_found(detail: &str) -> Self {
        Self {
            status: StatusCode::NOT_FOUND,
            detail: detail.to_owned(),
        }
    }

    /// What was asked for cannot be done.
    pub fn conflict(detail: &str) -> Self {
        Self {
            status: StatusCode::CONFLICT,
            detail: detail.to_owned(),
        }
    }
}

impl From<SandboxError> for Refusal {
    fn from(error: SandboxError) -> Self {
        let status = match error {
            SandboxError::InvalidFault(_) => StatusCode::BAD_REQUEST,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Self {
            status,
            detail: error.to_string(),
        }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        (self.status, Json(serde_json::json!({ "detail": self.detail }))).into_response()
    }
}
