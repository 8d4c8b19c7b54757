//! The table of routes.

mod catalog;
mod deliveries;
mod jobs;
mod orders;
mod outbox;
mod payments;
mod reason;
mod webhooks;

use axum::{Json, Router, extract::DefaultBodyLimit, middleware, routing::get};
use tower_http::catch_panic::CatchPanicLayer;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{ApiState, envelope, extract::MAX_BODY_BYTES, health, openapi};

/// Everything that the api answers.
pub fn router(state: ApiState) -> Router {
    let document = openapi::document();
    let (routes, _) = documented().split_for_parts();
    routes
        .route("/openapi.json", get(move || async move { Json(document) }))
        .with_state(state.clone())
        .merge(health::router(state.health.clone(), state.metrics.clone()))
        .layer(DefaultBodyLimit::max(MAX_BODY_BYTES))
        .layer(CatchPanicLayer::custom(envelope::panicked))
        .layer(middleware::from_fn_with_state(state, envelope::envelope))
}

/// The routes that have a place in the document.
pub(crate) fn documented() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new()
        .routes(routes!(orders::place, orders::list))
        .routes(routes!(orders::get))
        .routes(routes!(orders::cancel))
        .routes(routes!(payments::start))
        .routes(routes!(payments::reconcile))
        .routes(routes!(payments::decide))
        .routes(routes!(jobs::list))
        .routes(routes!(jobs::retry))
        .routes(routes!(jobs::cancel))
        .routes(routes!(outbox::backlog))
        .routes(routes!(deliveries::resolve))
        .routes(routes!(webhooks::receive))
        .routes(routes!(catalog::plans))
}
