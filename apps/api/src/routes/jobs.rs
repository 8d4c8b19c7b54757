//! Rows of the queue: the only place where a job without a record behind it is visible.

use axum::{Json, extract::State, http::StatusCode};
use chrono::{DateTime, Utc};
use queue::{JobState, JobView, ListingFilter};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use service::Cursor;
use utoipa::{IntoParams, ToSchema};

use super::orders::limit;
use crate::{
    ApiState,
    extract::{Id, JobId, MaybeReason, Operator, Request, Search},
    problem::{Problem, ProblemOut},
};

/// Which jobs.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct JobSearch {
    /// `dead_letter` (discarded and cancelled; the default), `retryable`, `running`, `available`, `scheduled`, `completed`.
    state: Option<String>,
    /// 1 to 200; anything else reads 50.
    limit: Option<String>,
    /// `nextCursor` of the page before.
    cursor: Option<String>,
}

/// Longest last error that is shown, in characters.
const LONGEST_ERROR: usize = 2_000;

/// A job. Its arguments are summarised, because they carry ids that belong behind the records they point at.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct JobOut {
    id: i64,
    kind: String,
    queue: String,
    state: String,
    attempt: i32,
    max_attempts: i32,
    created_at: DateTime<Utc>,
    /// Ids by which the record is found: `operationId`, `orderId`, `task`; empty for a kind this version does not know.
    #[schema(value_type = Object)]
    args_summary: Value,
    error_count: i32,
    /// Redacted; empty when there was none.
    last_error: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    attempted_at: Option<DateTime<Utc>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    finalized_at: Option<DateTime<Utc>>,
}

impl From<JobView> for JobOut {
    fn from(job: JobView) -> Self {
        Self {
            id: job.id,
            kind: job.kind,
            queue: job.queue,
            state: job.state.to_string(),
            attempt: job.attempt,
            max_attempts: job.max_attempts,
            created_at: job.created_at,
            args_summary: job.subject.summary(),
            error_count: job.error_count,
            last_error: secrets::redact::line(&job.last_error, LONGEST_ERROR),
            attempted_at: job.attempted_at,
            finalized_at: job.finalized_at,
        }
    }
}

/// Jobs in a state.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct JobListOut {
    state: String,
    items: Vec<JobOut>,
    /// Absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

/// Lists jobs, newest first.
#[utoipa::path(get, path = "/v1/admin/jobs", operation_id = "listJobs", tag = "jobs", params(JobSearch),
    responses((status = 200, body = JobListOut), (status = "4XX", body = ProblemOut, content_type = "application/problem+json"), (status = "5XX", body = ProblemOut, content_type = "application/problem+json")),
    security(("operator" = [])))]
pub(super) async fn list(
    State(app): State<ApiState>,
    _: Operator,
    Search(search): Search<JobSearch>,
) -> Result<Json<JobListOut>, Problem> {
    let state = search.state.unwrap_or_else(|| "dead_letter".to_owned());
    let filter = ListingFilter {
        states: states(&state)?,
        limit: u32::try_from(limit(search.limit.as_deref(), 50, 200)).unwrap_or(50),
        before: search
            .cursor
            .as_deref()
            .map(Cursor::job)
            .transpose()
            .map_err(service::Error::from)?,
    };
    let listing = app.service.list_jobs(&filter).await?;
    Ok(Json(JobListOut {
        state,
        items: listing.jobs.into_iter().map(JobOut::from).collect(),
        next_cursor: listing.next.map(|id| Cursor::Job(id).to_string()),
    }))
}

/// Makes a job run again. The job of a failed operation is retried by a new budget of the operation; the answer is the job that runs.
#[utoipa::path(post, path = "/v1/admin/jobs/{id}/retry", operation_id = "retryJob", tag = "jobs", params(("id" = i64, Path, description = "The job"), ("X-Operator-Reason" = Option<String>, Header, description = "At most 400 characters, kept in the audit trail")),
    responses((status = 200, body = JobOut), (status = "4XX", body = ProblemOut, content_type = "application/problem+json"), (status = "5XX", body = ProblemOut, content_type = "application/problem+json")),
    security(("operator" = [])))]
pub(super) async fn retry(
    State(app): State<ApiState>,
    _: Operator,
    request: Request,
    Id(JobId(id)): Id<JobId>,
    MaybeReason(reason): MaybeReason,
) -> Result<Json<JobOut>, Problem> {
    let caller = request.operator().with_reason(reason);
    Ok(Json(app.service.retry_job(&caller, id).await?.into()))
}

/// Cancels a waiting job and marks a running one.
#[utoipa::path(post, path = "/v1/admin/jobs/{id}/cancel", operation_id = "cancelJob", tag = "jobs", params(("id" = i64, Path, description = "The job"), ("X-Operator-Reason" = Option<String>, Header, description = "At most 400 characters, kept in the audit trail")),
    responses((status = 200, body = JobOut), (status = "4XX", body = ProblemOut, content_type = "application/problem+json"), (status = "5XX", body = ProblemOut, content_type = "application/problem+json")),
    security(("operator" = [])))]
pub(super) async fn cancel(
    State(app): State<ApiState>,
    _: Operator,
    request: Request,
    Id(JobId(id)): Id<JobId>,
    MaybeReason(reason): MaybeReason,
) -> Result<Json<JobOut>, Problem> {
    let caller = request.operator().with_reason(reason);
    Ok(Json(app.service.cancel_job(&caller, id).await?.into()))
}

fn states(text: &str) -> Result<Vec<JobState>, Problem> {
    match text {
        "dead_letter" => Ok(vec![JobState::Discarded, JobState::Cancelled]),
        "retryable" => Ok(vec![JobState::Retryable]),
        "running" => Ok(vec![JobState::Running]),
        "available" => Ok(vec![JobState::Available]),
        "scheduled" => Ok(vec![JobState::Scheduled]),
        "completed" => Ok(vec![JobState::Completed]),
        _ => Err(Problem::new(
            StatusCode::BAD_REQUEST,
            "invalid_state",
            "there is no such state of a job",
        )),
    }
}
