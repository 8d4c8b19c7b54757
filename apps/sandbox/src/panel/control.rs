//! `/control/panel/…`: traffic of a user, knobs.

use std::sync::Arc;

use axum::{
    Json, Router,
    extract::{Path, State},
    http::StatusCode,
    routing::{get, put},
};
use serde::Deserialize;

use super::{Knobs, Panel, answer::Failure, change};
use crate::control::Refusal;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TrafficIn {
    used_traffic_bytes: i64,
}

pub(super) fn router(panel: &Arc<Panel>) -> Router {
    Router::new()
        .route("/users/{id}/traffic", put(set_traffic))
        .route("/knobs", get(knobs).put(set_knobs))
        .with_state(panel.clone())
}

async fn set_traffic(
    State(panel): State<Arc<Panel>>,
    Path(id): Path<i64>,
    Json(input): Json<TrafficIn>,
) -> Result<StatusCode, Refusal> {
    let now = panel.now();
    panel
        .ledger
        .change(
            now,
            |state| change::set_traffic(state, now, id, input.used_traffic_bytes.max(0)).map(Some),
            |_| Ok::<(), Failure>(()),
        )
        .map_err(|_| Refusal::not_found("no such user"))?;
    Ok(StatusCode::NO_CONTENT)
}

async fn knobs(State(panel): State<Arc<Panel>>) -> Json<Knobs> {
    Json(panel.knobs.get())
}

async fn set_knobs(State(panel): State<Arc<Panel>>, Json(knobs): Json<Knobs>) -> StatusCode {
    panel.knobs.set(knobs);
    StatusCode::NO_CONTENT
}
