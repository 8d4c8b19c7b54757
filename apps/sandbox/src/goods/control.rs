//! `/control/goods/knobs`.

use std::sync::Arc;

use axum::{Json, Router, extract::State, http::StatusCode, routing::get};

use super::{Gateway, GoodsKnobs};

pub(super) fn router(gateway: &Arc<Gateway>) -> Router {
    Router::new()
        .route("/knobs", get(knobs).put(set_knobs))
        .with_state(gateway.clone())
}

async fn knobs(State(gateway): State<Arc<Gateway>>) -> Json<GoodsKnobs> {
    Json(gateway.knobs.get())
}

async fn set_knobs(State(gateway): State<Arc<Gateway>>, Json(knobs): Json<GoodsKnobs>) -> StatusCode {
    gateway.knobs.set(knobs);
    StatusCode::NO_CONTENT
}
