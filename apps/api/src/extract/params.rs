//! Parameters of paths, queries and headers.

use std::{num::ParseIntError, str::FromStr};

use axum::{
    extract::{FromRequestParts, Path, Query},
    http::{StatusCode, request::Parts},
};
use domain::ids::{EntitlementId, IntentId, OperationId, OrderId};
use serde::de::DeserializeOwned;

use crate::problem::Problem;

/// What a path may name.
pub(crate) trait Named: FromStr {
    /// Code of a text that cannot be such an id.
    const CODE: &'static str;
}

impl Named for OrderId {
    const CODE: &'static str = "invalid_order";
}

impl Named for IntentId {
    const CODE: &'static str = "invalid_payment";
}

impl Named for OperationId {
    const CODE: &'static str = "invalid_operation";
}

impl Named for EntitlementId {
    const CODE: &'static str = "invalid_entitlement";
}

/// A row of the queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JobId(pub(crate) i64);

impl FromStr for JobId {
    type Err = ParseIntError;

    fn from_str(text: &str) -> Result<Self, ParseIntError> {
        text.parse().map(Self)
    }
}

impl Named for JobId {
    const CODE: &'static str = "invalid_job";
}

/// The one parameter of the path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Id<T>(pub(crate) T);

impl<T: Named, S: Send + Sync> FromRequestParts<S> for Id<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let invalid = || Problem::new(StatusCode::BAD_REQUEST, T::CODE, "the id in the path is not valid");
        let Path(text) = Path::<String>::from_request_parts(parts, state)
            .await
            .map_err(|_| invalid())?;
        text.parse().map(Self).map_err(|_| invalid())
    }
}

/// The query.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Search<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Search<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let Query(search) = Query::<T>::from_request_parts(parts, state)
            .await
            .map_err(|_| Problem::invalid_request("the query is not valid"))?;
        Ok(Self(search))
    }
}

/// `If-Position-At-Least`: the answer shall know everything up to this position of the log.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AtLeast(pub(crate) Option<i64>);

impl<S: Sync> FromRequestParts<S> for AtLeast {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let Some(value) = parts.headers.get("if-position-at-least") else {
            return Ok(Self(None));
        };
        let position = value
            .to_str()
            .ok()
            .and_then(|text| text.parse().ok())
            .filter(|position: &i64| *position >= 0);
        match position {
            Some(position) => Ok(Self(Some(position))),
            None => Err(Problem::new(
                StatusCode::BAD_REQUEST,
                "invalid_request",
                "If-Position-At-Least is not a position",
            )),
        }
    }
}
