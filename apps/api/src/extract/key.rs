//! The `Idempotency-Key` header.

use axum::{extract::FromRequestParts, http::request::Parts};
use domain::ids::IdempotencyKey;
use serde::Serialize;
use service::KeyedRequest;

use crate::{extract::Request, problem::Problem};

/// Whose keys those of the bearer token are.
const PRINCIPAL: &str = "operator:bearer";

/// A caller's key.
#[derive(Clone, Debug)]
pub(crate) struct Key(IdempotencyKey);

impl Key {
    /// The key with the fingerprint of what is asked.
    pub(crate) fn keyed(self, request: &Request, body: &impl Serialize) -> Result<KeyedRequest, Problem> {
        KeyedRequest::new(PRINCIPAL, self.0, request.route(), body).map_err(|error| service::Error::from(error).into())
    }
}

impl<S: Sync> FromRequestParts<S> for Key {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let text = parts
            .headers
            .get("idempotency-key")
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default();
        IdempotencyKey::parse(text).map(Self).map_err(|_| {
            Problem::new(
                axum::http::StatusCode::BAD_REQUEST,
                "missing_idempotency_key",
                "an Idempotency-Key of 8 to 128 visible ASCII characters is required",
            )
        })
    }
}
