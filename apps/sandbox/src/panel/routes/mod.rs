//! The panel's routes.

mod lookups;
mod system;
mod webhook;
mod writes;

use std::sync::Arc;

use axum::{
    Router,
    http::{Method, Uri},
    middleware,
    routing::{get, post},
};

use super::{Panel, access, answer::Failure};

pub(super) fn router(panel: &Arc<Panel>) -> Router {
    Router::new()
        .route(
            "/api/users",
            post(writes::create).patch(writes::update).get(lookups::list),
        )
        .route("/api/users/stream", get(lookups::stream))
        .route("/api/users/resolve", post(lookups::resolve))
        .route("/api/users/by-username/{username}", get(lookups::by_username))
        .route("/api/users/by-short-uuid/{short_uuid}", get(lookups::by_short_uuid))
        .route("/api/users/{id}", get(lookups::by_id).delete(writes::delete))
        .route("/api/users/{id}/actions/enable", post(writes::enable))
        .route("/api/users/{id}/actions/disable", post(writes::disable))
        .route("/api/users/{id}/actions/reset-traffic", post(writes::reset_traffic))
        .route("/api/internal-squads", get(system::squads))
        .route("/api/system/metadata", get(system::metadata))
        .route("/api/system/health", get(system::health))
        .fallback(unknown)
        .method_not_allowed_fallback(unknown)
        .with_state(panel.clone())
        .layer(middleware::from_fn_with_state(panel.clone(), access::guard))
}

async fn unknown(method: Method, uri: Uri) -> Failure {
    Failure::unknown_route(method.as_str(), uri.path())
}

/// The panel coerces path ids to numbers: a fraction passes and finds nobody, zero and text do not pass.
fn user_id(text: &str) -> Result<i64, Failure> {
    let invalid = || Failure::Invalid(vec![serde_json::json!({ "code": "invalid", "path": ["id"] })]);
    let number: f64 = text.trim().parse().map_err(|_| invalid())?;
    if !number.is_finite() || number <= 0.0 {
        return Err(invalid());
    }
    Ok(super::field::whole(&serde_json::json!(number)).unwrap_or(0))
}
