//! The operator's bearer token.

use axum::{
    extract::{FromRef, FromRequestParts},
    http::{StatusCode, header, request::Parts},
};

use crate::{ApiState, problem::Problem};

/// Proof that the request carries the operator's token. Compared in constant time; an empty configured token refuses everybody.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Operator;

impl<S: Sync> FromRequestParts<S> for Operator
where
    ApiState: FromRef<S>,
{
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let token = ApiState::from_ref(state).operator_token;
        let presented = parts
            .headers
            .get(header::AUTHORIZATION)
            .and_then(|value| value.as_bytes().strip_prefix(b"Bearer "));
        if !token.is_empty() && token.matches(presented.unwrap_or_default()) {
            return Ok(Self);
        }
        // Counted and not stored: anybody can be refused as often as they like.
        let reason = match presented {
            _ if token.is_empty() => "no_token_configured",
            None => "none_presented",
            Some(_) => "wrong",
        };
        metrics::counter!("omniflow_operator_denied_total", "reason" => reason).increment(1);
        Err(Problem::new(
            StatusCode::UNAUTHORIZED,
            "unauthorized",
            "the operator token is required",
        ))
    }
}
