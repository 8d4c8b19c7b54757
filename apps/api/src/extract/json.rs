//! JSON bodies: exactly one value of the expected form, at most 1 MiB, no unknown fields, nothing that cannot be stored.

use axum::{
    body::Bytes,
    extract::{FromRequest, Request},
    http::{StatusCode, header},
};
use serde::de::DeserializeOwned;

use crate::problem::Problem;

/// Most bytes of a body.
pub(crate) const MAX_BODY_BYTES: usize = 1 << 20;

/// A body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Body<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        if !is_json(&request) {
            return Err(Problem::invalid_request("the body must be application/json"));
        }
        let bytes = Bytes::from_request(request, state)
            .await
            .map_err(|rejection| match rejection.status() {
                StatusCode::PAYLOAD_TOO_LARGE => Problem::of_status(StatusCode::PAYLOAD_TOO_LARGE),
                _ => Problem::invalid_request("the body could not be read"),
            })?;
        parse(&bytes).map(Self)
    }
}

/// Depth is bounded by the parser, numbers by their types.
fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    if holds_nul(bytes) {
        return Err(Problem::invalid_request("text holds U+0000"));
    }
    serde_json::from_slice(bytes).map_err(|error| {
        let mut problem = Problem::invalid_request("");
        // The parser names fields and places, and repeats at most a short piece of what the caller sent.
        problem.detail = error.to_string().chars().take(200).collect::<String>().into();
        problem
    })
}

fn is_json(request: &Request) -> bool {
    let kind = request
        .headers()
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    let essence = kind.split(';').next().unwrap_or_default().trim();
    essence.eq_ignore_ascii_case("application/json")
}

/// The escape `\u0000`, unless its backslash is itself escaped. The bare byte is no JSON anyway.
fn holds_nul(bytes: &[u8]) -> bool {
    bytes
        .windows(6)
        .enumerate()
        .filter(|(_, window)| window == b"\\u0000")
        .any(|(at, _)| {
            let before = bytes.iter().take(at).rev().take_while(|byte| **byte == b'\\').count();
            before.is_multiple_of(2)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_true_nul_is_refused() {
        assert!(holds_nul(br#"{"a":"x\u0000"}"#));
        assert!(holds_nul(br#"{"a":"\\\u0000"}"#));
        assert!(!holds_nul(br#"{"a":"\\u0000"}"#));
    }

    #[test]
    fn depth_is_bounded() {
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(parse::<serde_json::Value>(deep.as_bytes()).is_err());
    }

    #[test]
    fn two_values_are_refused() {
        assert!(parse::<i64>(b"1 2").is_err());
        assert!(parse::<i64>(b"99999999999999999999").is_err());
    }
}
