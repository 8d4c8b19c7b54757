//! How far the publisher is behind.

use axum::{Json, extract::State, http::StatusCode};
use serde::Serialize;
use utoipa::ToSchema;

use crate::{
    ApiState,
    extract::Operator,
    problem::{Problem, ProblemOut},
};

/// What waits to be handed over.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct BacklogOut {
    pending_count: i64,
    /// 0 when nothing waits.
    oldest_age_seconds: i64,
}

/// The outbox's backlog.
#[utoipa::path(get, path = "/v1/admin/outbox", operation_id = "getOutboxBacklog", tag = "outbox",
    responses((status = 200, body = BacklogOut), (status = "4XX", body = ProblemOut, content_type = "application/problem+json"), (status = "5XX", body = ProblemOut, content_type = "application/problem+json")),
    security(("operator" = [])))]
pub(super) async fn backlog(State(app): State<ApiState>, _: Operator) -> Result<Json<BacklogOut>, Problem> {
    let backlog = app.service.outbox_backlog().await.map_err(|error| {
        let mut problem = Problem::from(error);
        if problem.status == StatusCode::INTERNAL_SERVER_ERROR {
            problem.code = "outbox_unavailable".into();
        }
        problem
    })?;
    Ok(Json(BacklogOut {
        pending_count: backlog.pending_count,
        oldest_age_seconds: backlog.oldest_age_seconds,
    }))
}
