//! Fulfillment operations: what became of them, and a person's retry or cancel. Never a body of the panel.

use axum::{Json, extract::State};
use chrono::{DateTime, Utc};
use domain::ids::OperationId;
use serde::{Deserialize, Serialize};
use service::{HistoryView, OperationRow, OperationSearch};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use super::orders::limit;
use crate::{
    ApiState,
    extract::{Id, Operator, Reason, Request, Search},
    problem::{Problem, ProblemOut},
};

/// Which operations.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct OperationListSearch {
    /// `pending`, `running`, `retrying`, `succeeded`, `failed`, `cancelled`; all when absent.
    status: Option<String>,
    /// Only of this kind, such as `create`.
    operation: Option<String>,
    /// Only of this entitlement.
    entitlement_id: Option<Uuid>,
    /// `nextCursor` of the page before.
    cursor: Option<String>,
    /// 1 to 200; anything else reads 50.
    limit: Option<String>,
}

/// An operation.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct OperationOut {
    id: Uuid,
    entitlement_id: Uuid,
    subscription_id: Uuid,
    #[serde(skip_serializing_if = "Option::is_none")]
    order_id: Option<Uuid>,
    operation: String,
    /// `pending`, `running`, `retrying`, `succeeded`, `failed`, `cancelled`.
    status: String,
    /// Desired-state version it was opened for.
    version: i64,
    /// Attempts of the present budget that count.
    attempt_count: i32,
    next_attempt_at: DateTime<Utc>,
    /// Not applied before this.
    #[serde(skip_serializing_if = "Option::is_none")]
    effective_at: Option<DateTime<Utc>>,
    /// Of the last failure, or of how it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_error_code: Option<String>,
    /// Its run was asked to end it, and does unless its request is sent already.
    cancel_requested: bool,
    correlation_id: String,
    created_at: DateTime<Utc>,
    #[serde(skip_serializing_if = "Option::is_none")]
    completed_at: Option<DateTime<Utc>>,
}

impl From<OperationRow> for OperationOut {
    fn from(row: OperationRow) -> Self {
        Self {
            id: row.operation_id,
            entitlement_id: row.entitlement_id,
            subscription_id: row.subscription_id,
            order_id: row.order_id,
            operation: row.operation,
            status: row.status,
            version: row.version,
            attempt_count: row.attempt_count,
            next_attempt_at: row.next_attempt_at,
            effective_at: row.effective_at,
            last_error_code: row.last_error_code,
            cancel_requested: row.cancel_requested,
            correlation_id: row.correlation_id,
            created_at: row.created_at,
            completed_at: row.completed_at,
        }
    }
}

/// A page of operations.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct OperationListOut {
    items: Vec<OperationOut>,
    /// Absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

/// Lists operations, newest first.
#[utoipa::path(get, path = "/v1/admin/operations", operation_id = "listOperations", tag = "operations", params(OperationListSearch),
    responses((status = 200, body = OperationListOut), (status = "4XX", body = ProblemOut, content_type = "application/problem+json")),
    security(("operator" = [])))]
pub(super) async fn list(
    State(app): State<ApiState>,
    _: Operator,
    Search(search): Search<OperationListSearch>,
) -> Result<Json<OperationListOut>, Problem> {
    let search = OperationSearch {
        status: search.status,
        operation: search.operation,
        entitlement_id: search.entitlement_id,
        cursor: search.cursor,
        limit: limit(search.limit.as_deref(), 50, 200),
    };
    let page = app.service.list_operations(&search).await?;
    Ok(Json(OperationListOut {
        items: page.items.into_iter().map(OperationOut::from).collect(),
        next_cursor: page.next,
    }))
}

/// One operation.
#[utoipa::path(get, path = "/v1/admin/operations/{id}", operation_id = "getOperation", tag = "operations",
    params(("id" = Uuid, Path, description = "The operation")),
    responses((status = 200, body = OperationOut), (status = "4XX", body = ProblemOut, content_type = "application/problem+json")),
    security(("operator" = [])))]
pub(super) async fn get(
    State(app): State<ApiState>,
    _: Operator,
    Id(id): Id<OperationId>,
) -> Result<Json<OperationOut>, Problem> {
    Ok(Json(app.service.get_operation(id).await?.into()))
}

/// Something that happened to an operation.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct HistoryOut {
    /// `attempt`, `snooze`, `hold`, `refusal`, `close`, `operator`.
    kind: String,
    /// Of the operation afterwards.
    status: String,
    /// Number in its budget.
    attempt: i32,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_code: Option<String>,
    correlation_id: String,
    /// How often the same happened.
    count: i32,
    /// First of them.
    first_at: DateTime<Utc>,
    /// Last of them.
    occurred_at: DateTime<Utc>,
}

impl From<HistoryView> for HistoryOut {
    fn from(entry: HistoryView) -> Self {
        Self {
            kind: entry.kind,
            status: entry.status,
            attempt: entry.attempt,
            error_code: entry.error_code,
            correlation_id: entry.correlation_id,
            count: entry.count,
            first_at: entry.first_at,
            occurred_at: entry.occurred_at,
        }
    }
}

/// What happened to an operation, oldest first.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct HistoryListOut {
    items: Vec<HistoryOut>,
}

/// The attempts of an operation: status, correlation id, code and time, never what was sent or answered. A wait that repeats is one entry.
#[utoipa::path(get, path = "/v1/admin/operations/{id}/history", operation_id = "getOperationHistory", tag = "operations",
    params(("id" = Uuid, Path, description = "The operation")),
    responses((status = 200, body = HistoryListOut), (status = "4XX", body = ProblemOut, content_type = "application/problem+json")),
    security(("operator" = [])))]
pub(super) async fn history(
    State(app): State<ApiState>,
    _: Operator,
    Id(id): Id<OperationId>,
) -> Result<Json<HistoryListOut>, Problem> {
    let entries = app.service.operation_history(id).await?;
    Ok(Json(HistoryListOut {
        items: entries.into_iter().map(HistoryOut::from).collect(),
    }))
}

/// Gives a failed operation a new budget under the same idempotency key. Its job is committed with it.
#[utoipa::path(post, path = "/v1/admin/operations/{id}/retry", operation_id = "retryOperation", tag = "operations",
    params(("id" = Uuid, Path, description = "The operation"), ("X-Operator-Reason" = String, Header, description = "1 to 400 characters")),
    responses((status = 200, body = OperationOut), (status = "4XX", body = ProblemOut, content_type = "application/problem+json"), (status = "5XX", body = ProblemOut, content_type = "application/problem+json")),
    security(("operator" = [])))]
pub(super) async fn retry(
    State(app): State<ApiState>,
    _: Operator,
    request: Request,
    Id(id): Id<OperationId>,
    Reason(reason): Reason,
) -> Result<Json<OperationOut>, Problem> {
    let caller = request.operator().because(reason);
    app.service.retry_operation(&caller, id).await?;
    Ok(Json(app.service.get_operation(id).await?.into()))
}

/// Abandons an operation that has not succeeded. One whose run is under way is only marked: the run ends it, unless its request is sent
/// already.
#[utoipa::path(post, path = "/v1/admin/operations/{id}/cancel", operation_id = "cancelOperation", tag = "operations",
    params(("id" = Uuid, Path, description = "The operation"), ("X-Operator-Reason" = String, Header, description = "1 to 400 characters")),
    responses((status = 200, body = OperationOut), (status = "4XX", body = ProblemOut, content_type = "application/problem+json"), (status = "5XX", body = ProblemOut, content_type = "application/problem+json")),
    security(("operator" = [])))]
pub(super) async fn cancel(
    State(app): State<ApiState>,
    _: Operator,
    request: Request,
    Id(id): Id<OperationId>,
    Reason(reason): Reason,
) -> Result<Json<OperationOut>, Problem> {
    let caller = request.operator().because(reason);
    app.service.cancel_operation(&caller, id).await?;
    Ok(Json(app.service.get_operation(id).await?.into()))
}
