//! The layer before every route, in the panel's order: proxy headers, bearer, scopes. It also gives refusals their body.

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    http::{HeaderMap, header},
    middleware::Next,
    response::{IntoResponse as _, Response},
};

use super::{Panel, answer::Failure};
use crate::wire;

pub(super) async fn guard(State(panel): State<Arc<Panel>>, request: Request, next: Next) -> Response {
    let knobs = panel.knobs.get();
    let headers = request.headers();
    if knobs.require_forwarded && !came_through_a_proxy(headers) {
        return wire::reset();
    }
    let path = request.uri().path().to_owned();
    let expected = format!("Bearer {}", panel.context.token);
    let known = headers
        .get(header::AUTHORIZATION)
        .is_some_and(|sent| sent.as_bytes() == expected.as_bytes());
    let mut response = if !known || knobs.expire_token {
        Failure::unauthorized().into_response()
    } else if knobs.deny_scopes {
        Failure::forbidden().into_response()
    } else {
        next.run(request).await
    };
    match response.extensions_mut().remove::<Failure>() {
        Some(failure) => failure.render(&path, panel.now()),
        None => response,
    }
}

fn came_through_a_proxy(headers: &HeaderMap) -> bool {
    let filled = headers.get("x-forwarded-for").is_some_and(|value| !value.is_empty());
    filled
        && headers
            .get("x-forwarded-proto")
            .is_some_and(|value| value.as_bytes() == b"https")
}
