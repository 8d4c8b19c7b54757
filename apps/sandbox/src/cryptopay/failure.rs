//! Refusals in the API's own form.

use axum::{
    Json,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use serde_json::json;

use crate::{SandboxError, control::Refusal};

/// `{ok: false, error: {code, name}}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Failure {
    status: u16,
    name: &'static str,
}

impl Failure {
    pub(super) const UNAUTHORIZED: Self = Self {
        status: 401,
        name: "UNAUTHORIZED",
    };
    pub(super) const METHOD_NOT_FOUND: Self = Self {
        status: 405,
        name: "METHOD_NOT_FOUND",
    };
    pub(super) const INVOICE_NOT_FOUND: Self = Self::invalid("INVOICE_NOT_FOUND");
    pub(super) const INVOICE_ALREADY_PAID: Self = Self::invalid("INVOICE_ALREADY_PAID");
    pub(super) const INVOICE_EXPIRED: Self = Self::invalid("INVOICE_EXPIRED");

    /// 400.
    pub(super) const fn invalid(name: &'static str) -> Self {
        Self { status: 400, name }
    }
}

impl From<SandboxError> for Failure {
    fn from(error: SandboxError) -> Self {
        tracing::error!(%error, "an effect was not recorded, so it did not happen");
        Self {
            status: 500,
            name: "INTERNAL",
        }
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let body = json!({ "ok": false, "error": { "code": self.status, "name": self.name } });
        (status, Json(body)).into_response()
    }
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Self {
        if failure == Failure::INVOICE_NOT_FOUND {
            Self::not_found(failure.name)
        } else {
            Self::conflict(failure.name)
        }
    }
}
