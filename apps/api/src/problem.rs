//! Problem documents (RFC 9457), and the one place where a failure is logged.

use std::borrow::Cow;

use axum::{
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use queue::QueueError;
use serde::Serialize;
use service::{Error, Severity};
use store::StoreError;

/// Where codes are explained; clients branch on the last segment.
const TYPE_BASE: &str = "https://omniflow.dev/problems/";

/// A failure as the caller sees it. The envelope adds the request id when the answer leaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) status: StatusCode,
    pub(crate) code: Cow<'static, str>,
    pub(crate) detail: Cow<'static, str>,
    /// Seconds after which repeating the request makes sense.
    pub(crate) retry_after: Option<u16>,
}

/// The document.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[schema(as = Problem)]
pub(crate) struct ProblemOut {
    /// `https://omniflow.dev/problems/<code>`
    #[serde(rename = "type")]
    #[schema(example = "https://omniflow.dev/problems/order_not_found")]
    kind: String,
    /// Text of the status.
    #[schema(example = "Not Found")]
    title: String,
    /// The HTTP status.
    #[schema(example = 404)]
    status: u16,
    /// For a person; may change.
    detail: String,
    /// As in `X-Request-ID`.
    request_id: String,
}

impl Problem {
    pub(crate) const fn new(status: StatusCode, code: &'static str, detail: &'static str) -> Self {
        Self {
            status,
            code: Cow::Borrowed(code),
            detail: Cow::Borrowed(detail),
            retry_after: None,
        }
    }

    pub(crate) const fn invalid_request(detail: &'static str) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "invalid_request", detail)
    }

    /// What a bare status, made by the framework, means.
    pub(crate) fn of_status(status: StatusCode) -> Self {
        match status {
            StatusCode::NOT_FOUND => Self::new(status, "not_found", "there is nothing at this address"),
            StatusCode::METHOD_NOT_ALLOWED => Self::new(status, "method_not_allowed", "the address has no such method"),
            StatusCode::PAYLOAD_TOO_LARGE => Self::new(status, "payload_too_large", "a body has at most 1 MiB"),
            StatusCode::REQUEST_TIMEOUT | StatusCode::GATEWAY_TIMEOUT => {
                Self::new(status, "timeout", "the answer took too long")
            }
            status if status.is_client_error() => Self::new(status, "invalid_request", "the request is not valid"),
            status => Self::new(status, "internal_error", "something failed on our side"),
        }
    }

    /// The document with the request's id.
    pub(crate) fn into_document(self, request_id: &str) -> Response {
        let out = ProblemOut {
            kind: format!("{TYPE_BASE}{}", self.code),
            title: self.status.canonical_reason().unwrap_or("Error").to_owned(),
            status: self.status.as_u16(),
            detail: self.detail.into_owned(),
            request_id: request_id.to_owned(),
        };
        let body = serde_json::to_vec(&out).unwrap_or_default();
        let mut response = (self.status, [(header::CONTENT_TYPE, "application/problem+json")], body).into_response();
        if let Some(seconds) = self.retry_after {
            response
                .headers_mut()
                .insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }

    const fn after(mut self, seconds: u16) -> Self {
        self.retry_after = Some(seconds);
        self
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = self.status.into_response();
        response.extensions_mut().insert(self);
        response
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        log(&error);
        match error {
            Error::Refused(refusal) => Self {
                status: StatusCode::from_u16(refusal.status).unwrap_or(StatusCode::UNPROCESSABLE_ENTITY),
                retry_after: (refusal.code == domain::maintenance::MAINTENANCE_ACTIVE).then_some(60),
                code: refusal.code,
                detail: refusal.detail,
            },
            Error::KeyReused => Self::new(
                StatusCode::UNPROCESSABLE_ENTITY,
                "idempotency_key_reused",
                "the idempotency key was used for another request",
            ),
            Error::InProgress => Self::new(
                StatusCode::CONFLICT,
                "request_in_progress",
                "the same request is being carried out",
            )
            .after(1),
            Error::Provider(_) => {
                let detail = "the provider did not answer; repeat the request with the same key";
                Self::new(StatusCode::SERVICE_UNAVAILABLE, "upstream_unavailable", detail).after(5)
            }
            Error::Store(error) => of_store(&error),
            Error::Queue(error) => of_queue(&error),
            _ => Self::of_status(StatusCode::INTERNAL_SERVER_ERROR),
        }
    }
}

fn of_store(error: &StoreError) -> Problem {
    match error {
        StoreError::Conflict => Problem::new(
            StatusCode::CONFLICT,
            "conflict",
            "too many others changed the same thing; try again",
        )
        .after(1),
        StoreError::Unavailable(_) | StoreError::CommitUnknown(_) => {
            let detail = "the database is not available; repeat the request with the same key";
            Problem::new(StatusCode::SERVICE_UNAVAILABLE, "database_unavailable", detail).after(1)
        }
        StoreError::Unstorable => Problem::invalid_request("text holds U+0000"),
        _ => Problem::of_status(StatusCode::INTERNAL_SERVER_ERROR),
    }
}

fn of_queue(error: &QueueError) -> Problem {
    match error {
        QueueError::NotFound => Problem::new(StatusCode::NOT_FOUND, "job_not_found", "there is no such job"),
        QueueError::Rejected { .. } => Problem::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            "job_mutation_rejected",
            "the job's state does not allow it",
        ),
        QueueError::StillLive => Problem::new(
            StatusCode::CONFLICT,
            "job_still_running",
            "a job of the same work is still alive",
        ),
        _ => Problem::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "jobs_unavailable",
            "the queue cannot be reached",
        ),
    }
}

/// Once per failure, inside the request's span, so with its id.
fn log(error: &Error) {
    let code = error.code();
    match error.severity() {
        Severity::Info => tracing::info!(code, "refused"),
        Severity::Warn => tracing::warn!(code, error = told(error), "not done"),
        Severity::Error => tracing::error!(code, error = told(error), "failed"),
    }
}

/// What is logged of an error: causes may repeat what came from outside.
fn told(error: &Error) -> String {
    secrets::redact::line(&Chain(error).to_string(), 1_000)
}

/// An error with everything that caused it, on one line.
struct Chain<'a>(&'a Error);

impl std::fmt::Display for Chain<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.0)?;
        let mut cause = std::error::Error::source(self.0);
        while let Some(error) = cause {
            write!(f, ": {error}")?;
            cause = error.source();
        }
        Ok(())
    }
}
