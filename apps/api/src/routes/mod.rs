//! The table of routes.

mod audit;
mod catalog;
mod dead_letters;
mod deliveries;
mod drifts;
mod entitlements;
mod jobs;
mod maintenance;
mod operations;
mod orders;
mod outbox;
mod panel_webhooks;
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
    let routes = routes
        .route("/openapi.json", get(move || async move { Json(document) }))
        .with_state(state.clone())
        .merge(health::router(state.health.clone(), state.metrics.clone()));
    enveloped(routes, state)
}

/// What every request passes through, outermost last.
fn enveloped(routes: Router, state: ApiState) -> Router {
    routes
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
        .routes(routes!(dead_letters::list))
        .routes(routes!(operations::list))
        .routes(routes!(operations::get))
        .routes(routes!(operations::history))
        .routes(routes!(operations::retry))
        .routes(routes!(operations::cancel))
        .routes(routes!(audit::list))
        .routes(routes!(audit::export))
        .routes(routes!(outbox::backlog))
        .routes(routes!(deliveries::list))
        .routes(routes!(deliveries::get))
        .routes(routes!(deliveries::resolve))
        .routes(routes!(entitlements::get))
        .routes(routes!(entitlements::change))
        .routes(routes!(entitlements::pause))
        .routes(routes!(entitlements::resume))
        .routes(routes!(deliveries::cancel))
        .routes(routes!(maintenance::get, maintenance::set))
        .routes(routes!(drifts::list))
        .routes(routes!(webhooks::receive))
        .routes(routes!(panel_webhooks::receive))
        .routes(routes!(catalog::plans))
}

#[cfg(test)]
mod tests {
    use axum::{body::Body, http::Request};
    use sqlx::postgres::PgPoolOptions;
    use tower::ServiceExt as _;

    use super::*;

    async fn blow_up() -> &'static str {
        panic!("secret detail")
    }

    async fn take_for_ever() -> &'static str {
        std::future::pending().await
    }

    fn broken() -> Router {
        let pool = PgPoolOptions::new()
            .connect_lazy("postgres://127.0.0.1:9/nowhere")
            .unwrap();
        let service = service::Service::builder(store::Store::new(pool)).build();
        let health = health::Health::new(Vec::new(), service.clock().clone());
        let routes = Router::new()
            .route("/panic", get(blow_up))
            .route("/slow", get(take_for_ever));
        enveloped(routes, ApiState::new(service, "token".into(), health, None))
    }

    async fn ask(path: &str) -> (u16, String) {
        let request = Request::builder().uri(path).body(Body::empty()).unwrap();
        let answer = broken().oneshot(request).await.unwrap();
        let status = answer.status().as_u16();
        let bytes = axum::body::to_bytes(answer.into_body(), 10_000).await.unwrap();
        (status, String::from_utf8(bytes.to_vec()).unwrap())
    }

    #[tokio::test]
    async fn a_panic_is_a_problem_that_tells_nothing() {
        let (status, body) = ask("/panic").await;
        assert_eq!(status, 500);
        assert!(
            body.contains("/problems/internal_error") && !body.contains("secret"),
            "{body}"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_that_never_comes_is_a_timeout() {
        let (status, body) = ask("/slow").await;
        assert_eq!(status, 504);
        assert!(body.contains("/problems/timeout"), "{body}");
    }
}
