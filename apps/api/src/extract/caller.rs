//! The request itself: its id and its address.

use std::convert::Infallible;

use axum::{extract::FromRequestParts, http::request::Parts};
use service::Caller;

use crate::envelope::RequestId;

/// The request's id, method and path.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    id: String,
    route: String,
}

impl Request {
    /// The operator behind the bearer token, as the actor of this request.
    pub(crate) fn operator(&self) -> Caller {
        Caller::new("operator:bearer", &self.id)
    }

    /// A provider, as the actor of this request.
    pub(crate) fn provider(&self, slug: &str) -> Caller {
        Caller::new(format!("provider:{slug}"), &self.id)
    }

    /// Method and path as called: part of an idempotency key's fingerprint.
    pub(crate) fn route(&self) -> &str {
        &self.route
    }
}

impl<S: Sync> FromRequestParts<S> for Request {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let id = parts
            .extensions
            .get::<RequestId>()
            .map(|id| id.0.clone())
            .unwrap_or_default();
        Ok(Self {
            id,
            route: format!("{} {}", parts.method, parts.uri.path()),
        })
    }
}
