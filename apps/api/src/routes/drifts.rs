//! Where the panel was seen to differ from what it must show.

use axum::{Json, extract::State, http::StatusCode};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use service::DriftView;
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use super::orders::limit;
use crate::{
    ApiState,
    extract::{Operator, Search},
    problem::{Problem, ProblemOut},
};

/// How many.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct DriftSearch {
    /// 1 to 500; anything else reads 100.
    limit: Option<String>,
}

/// One difference.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct DriftOut {
    id: i64,
    entitlement_id: Uuid,
    /// `missing_remote`, `expiry`, `traffic`, `device_limit`, `squads`, `status`.
    kind: String,
    /// `{"value": …}`, or `{"exists": …}` for the user as a whole.
    #[schema(value_type = Object)]
    expected: Value,
    /// As `expected`.
    #[schema(value_type = Object)]
    observed: Value,
    /// When it was seen, or seen with other values, last.
    detected_at: DateTime<Utc>,
}

impl From<DriftView> for DriftOut {
    fn from(drift: DriftView) -> Self {
        Self {
            id: drift.id,
            entitlement_id: drift.entitlement_id,
            kind: drift.kind,
            expected: drift.expected,
            observed: drift.observed,
            detected_at: drift.detected_at,
        }
    }
}

/// Open differences.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct DriftListOut {
    items: Vec<DriftOut>,
}

/// Differences that are open, newest first.
#[utoipa::path(get, path = "/v1/admin/fulfillment/drifts", operation_id = "listDrifts", tag = "fulfillment", params(DriftSearch),
    responses((status = 200, body = DriftListOut), (status = "4XX", body = ProblemOut, content_type = "application/problem+json"), (status = "5XX", body = ProblemOut, content_type = "application/problem+json")),
    security(("operator" = [])))]
pub(super) async fn list(
    State(app): State<ApiState>,
    _: Operator,
    Search(search): Search<DriftSearch>,
) -> Result<Json<DriftListOut>, Problem> {
    let limit = limit(search.limit.as_deref(), 100, 500);
    let drifts = app.service.list_drifts(limit).await.map_err(|error| {
        let mut problem = Problem::from(error);
        if problem.status == StatusCode::INTERNAL_SERVER_ERROR {
            problem.code = "drifts_unavailable".into();
        }
        problem
    })?;
    let items = drifts.into_iter().map(DriftOut::from).collect();
    Ok(Json(DriftListOut { items }))
}
