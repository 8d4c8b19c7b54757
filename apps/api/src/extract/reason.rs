//! The `X-Operator-Reason` header: why a person changes something.

use axum::{
    extract::FromRequestParts,
    http::{HeaderMap, StatusCode, request::Parts},
};

use crate::problem::Problem;

const HEADER: &str = "x-operator-reason";
/// Most characters of a reason.
const MOST: usize = 400;

/// A reason that was given: 1 to 400 characters of UTF-8, trimmed, on one line.
#[derive(Clone, Debug)]
pub(crate) struct Reason(pub(crate) String);

/// As [`Reason`], where none is needed; one that is given must be fit all the same.
#[derive(Clone, Debug)]
pub(crate) struct MaybeReason(pub(crate) Option<String>);

impl<S: Sync> FromRequestParts<S> for Reason {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        read(&parts.headers)?.map(Self).ok_or_else(missing)
    }
}

impl<S: Sync> FromRequestParts<S> for MaybeReason {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        read(&parts.headers).map(Self)
    }
}

fn read(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let Some(value) = headers.get(HEADER) else {
        return Ok(None);
    };
    let text = std::str::from_utf8(value.as_bytes()).map_err(|_| missing())?.trim();
    let fits = text.chars().count() <= MOST && !text.chars().any(char::is_control);
    match (fits, text.is_empty()) {
        (true, false) => Ok(Some(text.to_owned())),
        (true, true) => Ok(None),
        (false, _) => Err(missing()),
    }
}

const fn missing() -> Problem {
    Problem::new(
        StatusCode::UNPROCESSABLE_ENTITY,
        "invalid_request",
        "an X-Operator-Reason of 1 to 400 characters is required",
    )
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn of(bytes: &[u8]) -> Result<Option<String>, Problem> {
        let mut headers = HeaderMap::new();
        headers.insert(HEADER, HeaderValue::from_bytes(bytes).unwrap());
        read(&headers)
    }

    #[test]
    fn a_reason_is_a_line_of_any_language() {
        assert_eq!(
            of(b"  the panel is back ").unwrap().as_deref(),
            Some("the panel is back")
        );
        assert_eq!(
            of("панель снова работает".as_bytes()).unwrap().as_deref(),
            Some("панель снова работает")
        );
        assert_eq!(
            of("я".repeat(400).as_bytes()).unwrap().map(|text| text.chars().count()),
            Some(400)
        );
        assert_eq!(read(&HeaderMap::new()).unwrap(), None);
        assert_eq!(of(b"   ").unwrap(), None);
        for unfit in ["я".repeat(401).as_bytes(), b"\xff\xfe", "a\u{85}b".as_bytes()] {
            assert_eq!(of(unfit).unwrap_err().status, StatusCode::UNPROCESSABLE_ENTITY);
        }
    }
}
