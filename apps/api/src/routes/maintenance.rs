//! The window of maintenance, as an operator sees, opens and closes it.

use axum::{Json, extract::State, http::StatusCode};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use service::{Error, MaintenanceView, SetMaintenance};
use utoipa::ToSchema;

use super::reason;
use crate::{
    ApiState,
    extract::{Body, Operator, Request},
    problem::{Problem, ProblemOut},
};

/// The window.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct MaintenanceOut {
    /// New orders are refused, and nothing is written to the panel.
    active: bool,
    /// `manual`, `remnawave` or `database`: what opened it, or closed it last. Only a person closes a manual one.
    source: String,
    /// For operators; may be empty.
    reason: String,
    /// For customers; empty is the built-in text.
    notice_ru: String,
    /// For customers; empty is the built-in text.
    notice_en: String,
    /// Kept when an open window is changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    activated_at: Option<DateTime<Utc>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expected_return_at: Option<DateTime<Utc>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cleared_at: Option<DateTime<Utc>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    updated_at: Option<DateTime<Utc>>,
}

impl From<MaintenanceView> for MaintenanceOut {
    fn from(view: MaintenanceView) -> Self {
        Self {
            active: view.active,
            source: view.source.to_owned(),
            reason: view.reason,
            notice_ru: view.notice_ru,
            notice_en: view.notice_en,
            activated_at: view.activated_at,
            expected_return_at: view.expected_return_at,
            cleared_at: view.cleared_at,
            updated_at: view.updated_at,
        }
    }
}

/// Whether a window is open, and what is said about it.
#[utoipa::path(get, path = "/v1/admin/maintenance", operation_id = "getMaintenance", tag = "maintenance",
    responses((status = 200, body = MaintenanceOut), (status = "4XX", body = ProblemOut, content_type = "application/problem+json"), (status = "5XX", body = ProblemOut, content_type = "application/problem+json")),
    security(("operator" = [])))]
pub(super) async fn get(State(app): State<ApiState>, _: Operator) -> Result<Json<MaintenanceOut>, Problem> {
    let view = app.service.maintenance().await.map_err(unavailable)?;
    Ok(Json(view.into()))
}

/// How the window is to be. What is left out is emptied.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct SetMaintenanceIn {
    active: bool,
    /// Who decides; required.
    #[serde(default, alias = "operatorID")]
    operator_id: String,
    /// At most 200 characters.
    #[serde(default)]
    reason: String,
    /// Plain text of at most 1000 characters.
    #[serde(default)]
    notice_ru: String,
    /// Plain text of at most 1000 characters.
    #[serde(default)]
    notice_en: String,
    /// Has to lie ahead; ignored when the window is closed.
    #[serde(default)]
    expected_return_at: Option<DateTime<Utc>>,
}

/// Opens, changes or closes the window. Its source is `manual` from then on. Asking for what is so already changes nothing.
#[utoipa::path(put, path = "/v1/admin/maintenance", operation_id = "setMaintenance", tag = "maintenance", request_body = SetMaintenanceIn,
    responses((status = 200, body = MaintenanceOut), (status = "4XX", body = ProblemOut, content_type = "application/problem+json"), (status = "5XX", body = ProblemOut, content_type = "application/problem+json")),
    security(("operator" = [])))]
pub(super) async fn set(
    State(app): State<ApiState>,
    _: Operator,
    request: Request,
    Body(body): Body<SetMaintenanceIn>,
) -> Result<Json<MaintenanceOut>, Problem> {
    let operator_id = reason::required(&body.operator_id, "").map_err(|_| MISSING_OPERATOR)?;
    let wanted = SetMaintenance {
        active: body.active,
        operator_id,
        reason: body.reason,
        notice_ru: body.notice_ru,
        notice_en: body.notice_en,
        expected_return_at: body.expected_return_at,
    };
    let view = app
        .service
        .set_maintenance(&request.operator(), &wanted)
        .await
        .map_err(unavailable)?;
    Ok(Json(view.into()))
}

const MISSING_OPERATOR: Problem = Problem::new(
    StatusCode::BAD_REQUEST,
    "missing_operator",
    "an operatorId of 1 to 500 characters is required",
);

/// A fault of the store has its own code here (the seeds'); a refusal keeps its own.
fn unavailable(error: Error) -> Problem {
    let is_refusal = matches!(error, Error::Refused(_));
    let problem = Problem::from(error);
    if is_refusal {
        return problem;
    }
    Problem::new(
        StatusCode::INTERNAL_SERVER_ERROR,
        "maintenance_unavailable",
        "the state of maintenance cannot be read or changed",
    )
}
