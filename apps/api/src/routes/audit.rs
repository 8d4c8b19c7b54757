//! The audit trail: who did what by hand.

use axum::{
    Json,
    extract::State,
    http::header,
    response::{IntoResponse, Response},
};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use service::{AuditRow, AuditSearch};
use utoipa::{IntoParams, ToSchema};

use super::orders::limit;
use crate::{
    ApiState,
    extract::{Operator, Request, Search},
    problem::{Problem, ProblemOut},
};

/// Which records.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct AuditListSearch {
    /// `authentication`, `authorization`, `configuration`, `customer`, `financial`, `support`, `marketing`, `system`, `risk`.
    category: Option<String>,
    /// `success`, `failure`, `denied`.
    outcome: Option<String>,
    /// `customer`, `operator`, `admin`, `system`, `provider`.
    actor_type: Option<String>,
    /// Name of the token, the person or the program.
    actor_id: Option<String>,
    /// Such as `panel.fulfillment.retried`.
    action: Option<String>,
    /// Such as `fulfillment_operation`.
    target_type: Option<String>,
    /// Its id.
    target_id: Option<String>,
    /// Not before (RFC 3339).
    from: Option<DateTime<Utc>>,
    /// Before, not at (RFC 3339).
    to: Option<DateTime<Utc>>,
    /// `asc` for oldest first, `desc` (the default).
    sort: Option<String>,
    /// `nextCursor` of the page before.
    cursor: Option<String>,
    /// 1 to 200; anything else reads 50.
    limit: Option<String>,
}

impl AuditListSearch {
    fn search(self) -> Result<AuditSearch, Problem> {
        let ascending = match self.sort.as_deref() {
            None | Some("desc") => false,
            Some("asc") => true,
            Some(_) => return Err(Problem::invalid_request("sort is asc or desc")),
        };
        Ok(AuditSearch {
            category: self.category,
            outcome: self.outcome,
            actor_type: self.actor_type,
            actor_id: self.actor_id,
            action: self.action,
            target_type: self.target_type,
            target_id: self.target_id,
            from: self.from,
            to: self.to,
            ascending,
            cursor: self.cursor,
            limit: limit(self.limit.as_deref(), 50, 200),
        })
    }
}

/// A record.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct AuditOut {
    id: i64,
    actor_type: String,
    actor_id: String,
    action: String,
    category: String,
    outcome: String,
    target_type: String,
    target_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    request_id: String,
    /// Ids and states.
    #[schema(value_type = Object)]
    metadata: Value,
    occurred_at: DateTime<Utc>,
}

impl From<AuditRow> for AuditOut {
    fn from(row: AuditRow) -> Self {
        Self {
            id: row.id,
            actor_type: row.actor_type,
            actor_id: row.actor_id,
            action: row.action,
            category: row.category,
            outcome: row.outcome,
            target_type: row.target_type,
            target_id: row.target_id,
            reason: row.reason,
            request_id: row.request_id,
            metadata: row.metadata,
            occurred_at: row.occurred_at,
        }
    }
}

/// A page of records.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct AuditListOut {
    items: Vec<AuditOut>,
    /// Absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

/// Lists records, newest first.
#[utoipa::path(get, path = "/v1/admin/audit", operation_id = "listAudit", tag = "audit", params(AuditListSearch),
    responses((status = 200, body = AuditListOut), (status = "4XX", body = ProblemOut, content_type = "application/problem+json")),
    security(("operator" = [])))]
pub(super) async fn list(
    State(app): State<ApiState>,
    _: Operator,
    Search(search): Search<AuditListSearch>,
) -> Result<Json<AuditListOut>, Problem> {
    let page = app.service.list_audit(&search.search()?).await?;
    Ok(Json(AuditListOut {
        items: page.items.into_iter().map(AuditOut::from).collect(),
        next_cursor: page.next,
    }))
}

/// Records as CSV, at most 10 000. `limit` has no meaning here. Cells that a spreadsheet would take for a formula begin with an apostrophe.
#[utoipa::path(get, path = "/v1/admin/audit/export", operation_id = "exportAudit", tag = "audit", params(AuditListSearch),
    responses((status = 200, body = String, content_type = "text/csv"), (status = "4XX", body = ProblemOut, content_type = "application/problem+json")),
    security(("operator" = [])))]
pub(super) async fn export(
    State(app): State<ApiState>,
    _: Operator,
    request: Request,
    Search(search): Search<AuditListSearch>,
) -> Result<Response, Problem> {
    let text = app.service.export_audit(&request.operator(), &search.search()?).await?;
    let headers = [
        (header::CONTENT_TYPE, "text/csv; charset=utf-8"),
        (header::CONTENT_DISPOSITION, "attachment; filename=\"audit.csv\""),
        (header::CACHE_CONTROL, "no-store"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    Ok((headers, text).into_response())
}
