//! Jobs that ended without success, kept beyond the queue's own rows.

use axum::{Json, extract::State};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use service::{DeadLetterRow, DeadLetterSearch};
use utoipa::{IntoParams, ToSchema};

use super::orders::limit;
use crate::{
    ApiState,
    extract::{Operator, Search},
    problem::{Problem, ProblemOut},
};

/// Which dead letters.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct DeadLetterListSearch {
    /// Only of this kind of job.
    kind: Option<String>,
    /// `cancelled` or `discarded`; both when absent.
    state: Option<String>,
    /// Only what still waits for a person.
    #[serde(default)]
    open: bool,
    /// `nextCursor` of the page before.
    cursor: Option<String>,
    /// 1 to 200; anything else reads 50.
    limit: Option<String>,
}

/// A job that ended without success.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct DeadLetterOut {
    /// The queue's id; its own row may be gone.
    job_id: i64,
    kind: String,
    queue: String,
    /// `cancelled` or `discarded`.
    state: String,
    attempt: i32,
    max_attempts: i32,
    /// Ids by which the record is found; never the arguments themselves.
    #[schema(value_type = Object)]
    args_summary: Value,
    error_count: i32,
    /// Redacted; empty when there was none.
    last_error: String,
    correlation_id: String,
    created_at: DateTime<Utc>,
    #[serde(skip_serializing_if = "Option::is_none")]
    attempted_at: Option<DateTime<Utc>>,
    finalized_at: DateTime<Utc>,
    /// What it was for still waits for a person.
    open: bool,
}

impl From<DeadLetterRow> for DeadLetterOut {
    fn from(row: DeadLetterRow) -> Self {
        Self {
            job_id: row.job_id,
            kind: row.kind,
            queue: row.queue,
            state: row.state,
            attempt: row.attempt,
            max_attempts: row.max_attempts,
            args_summary: row.args_summary,
            error_count: row.error_count,
            last_error: row.last_error,
            correlation_id: row.correlation_id,
            created_at: row.created_at,
            attempted_at: row.attempted_at,
            finalized_at: row.finalized_at,
            open: row.open,
        }
    }
}

/// A page of dead letters.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct DeadLetterListOut {
    items: Vec<DeadLetterOut>,
    /// Absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

/// Lists jobs that ended without success, of every kind, newest record first.
#[utoipa::path(get, path = "/v1/admin/dead-letters", operation_id = "listDeadLetters", tag = "jobs", params(DeadLetterListSearch),
    responses((status = 200, body = DeadLetterListOut), (status = "4XX", body = ProblemOut, content_type = "application/problem+json"), (status = "5XX", body = ProblemOut, content_type = "application/problem+json")),
    security(("operator" = [])))]
pub(super) async fn list(
    State(app): State<ApiState>,
    _: Operator,
    Search(search): Search<DeadLetterListSearch>,
) -> Result<Json<DeadLetterListOut>, Problem> {
    let search = DeadLetterSearch {
        kind: search.kind,
        state: search.state,
        open_only: search.open,
        cursor: search.cursor,
        limit: limit(search.limit.as_deref(), 50, 200),
    };
    let page = app.service.list_dead_letters(&search).await?;
    Ok(Json(DeadLetterListOut {
        items: page.items.into_iter().map(DeadLetterOut::from).collect(),
        next_cursor: page.next,
    }))
}
