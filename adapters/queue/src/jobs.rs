//! The operators' view of jobs, and the changes they may make. Every change is conditional on the state that is found.

use std::{fmt, str::FromStr};

use chrono::{DateTime, Utc};
use riverqueue::JobArgs;
use serde::Serialize;
use sqlx::PgConnection;

use crate::{JobClient, QueueError, Subject, bulk_row};

/// River's states.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum JobState {
    /// Due.
    Available,
    /// It was abandoned.
    Cancelled,
    /// Done.
    Completed,
    /// Gave up.
    Discarded,
    /// Held back.
    Pending,
    /// Failed, and waits for its next attempt.
    Retryable,
    /// An attempt is under way.
    Running,
    /// Waits for its time.
    Scheduled,
}

impl JobState {
    /// As stored.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Available => "available",
            Self::Cancelled => "cancelled",
            Self::Completed => "completed",
            Self::Discarded => "discarded",
            Self::Pending => "pending",
            Self::Retryable => "retryable",
            Self::Running => "running",
            Self::Scheduled => "scheduled",
        }
    }
}

impl fmt::Display for JobState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A text that names no state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no such job state")]
pub struct UnknownState;

impl FromStr for JobState {
    type Err = UnknownState;

    fn from_str(text: &str) -> Result<Self, UnknownState> {
        [
            Self::Available,
            Self::Cancelled,
            Self::Completed,
            Self::Discarded,
            Self::Pending,
            Self::Retryable,
            Self::Running,
            Self::Scheduled,
        ]
        .into_iter()
        .find(|state| state.as_str() == text)
        .ok_or(UnknownState)
    }
}

/// One job, without its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobView {
    /// River's id.
    pub id: i64,
    /// Its kind.
    pub kind: String,
    /// Name of its queue.
    pub queue: String,
    /// As River has it.
    pub state: JobState,
    /// Attempts begun; snoozes and interruptions do not count.
    pub attempt: i32,
    /// After so many it is discarded.
    pub max_attempts: i32,
    /// When it was made.
    pub created_at: DateTime<Utc>,
    /// Not run before this.
    pub scheduled_at: DateTime<Utc>,
    /// Begin of the last attempt.
    pub attempted_at: Option<DateTime<Utc>>,
    /// When it ended.
    pub finalized_at: Option<DateTime<Utc>>,
    /// Attempts that failed.
    pub error_count: i32,
    /// Text of the last error, empty if there was none. Not redacted.
    pub last_error: String,
    /// The record that the arguments point at.
    pub subject: Subject,
}

/// Which jobs to list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListingFilter {
    /// Any of these.
    pub states: Vec<JobState>,
    /// 1 to 200.
    pub limit: u32,
    /// Only jobs older than this one: `next` of the page before.
    pub before: Option<i64>,
}

/// One page, newest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing {
    /// Newest first.
    pub jobs: Vec<JobView>,
    /// Cursor of the next page; absent on the last.
    pub next: Option<i64>,
}

/// What became of a request to cancel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CancelResult {
    /// It will not run again.
    Cancelled,
    /// It is running: marked, and the process that runs it is told.
    Marked,
}

struct Row {
    id: i64,
    kind: String,
    queue: String,
    state: String,
    attempt: i32,
    max_attempts: i32,
    created_at: DateTime<Utc>,
    scheduled_at: DateTime<Utc>,
    attempted_at: Option<DateTime<Utc>>,
    finalized_at: Option<DateTime<Utc>>,
    error_count: i32,
    last_error: String,
    args: serde_json::Value,
}

impl From<Row> for JobView {
    fn from(row: Row) -> Self {
        Self {
            subject: Subject::of(&row.kind, &row.args),
            id: row.id,
            kind: row.kind,
            queue: row.queue,
            // The column is an enum of exactly these; a later River's state is shown as waiting, which it is not allowed to run from here.
            state: row.state.parse().unwrap_or(JobState::Pending),
            attempt: row.attempt,
            max_attempts: row.max_attempts,
            created_at: row.created_at,
            scheduled_at: row.scheduled_at,
            attempted_at: row.attempted_at,
            finalized_at: row.finalized_at,
            error_count: row.error_count,
            last_error: row.last_error,
        }
    }
}

impl JobClient {
    /// Lists jobs of the given states, newest first.
    ///
    /// # Errors
    /// [`QueueError::Unavailable`] when the statement fails.
    pub async fn list(&self, filter: &ListingFilter) -> Result<Listing, QueueError> {
        let states: Vec<String> = filter.states.iter().map(ToString::to_string).collect();
        let limit = i64::from(filter.limit.clamp(1, 200));
        let rows = sqlx::query_as!(
            Row,
            r#"select id, kind, queue, state::text as "state!", attempt::integer as "attempt!",
                      max_attempts::integer as "max_attempts!", created_at, scheduled_at, attempted_at, finalized_at,
                      coalesce(cardinality(errors), 0) as "error_count!",
                      coalesce(errors[cardinality(errors)] ->> 'error', '') as "last_error!", args
               from public.river_job
               where state = any ($1::text[]::public.river_job_state[]) and ($2::bigint is null or id < $2)
               order by id desc limit $3"#,
            &states,
            filter.before,
            // One more says whether there is another page.
            limit.saturating_add(1),
        )
        .fetch_all(&self.pool)
        .await?;
        let mut jobs: Vec<JobView> = rows.into_iter().map(JobView::from).collect();
        let kept = usize::try_from(limit).unwrap_or(0);
        let more = jobs.len() > kept;
        jobs.truncate(kept);
        let next = jobs.last().filter(|_| more).map(|job| job.id);
        Ok(Listing { jobs, next })
    }

    /// One job.
    ///
    /// # Errors
    /// [`QueueError::NotFound`], or [`QueueError::Unavailable`] when the statement fails.
    pub async fn get(&self, id: i64) -> Result<JobView, QueueError> {
        let mut conn = self.pool.acquire().await?;
        self.get_in(&mut conn, id).await
    }

    /// As [`Self::get`], in the caller's transaction; the row stays locked until it ends.
    ///
    /// # Errors
    /// As [`Self::get`].
    pub async fn get_in(&self, conn: &mut PgConnection, id: i64) -> Result<JobView, QueueError> {
        sqlx::query_as!(
            Row,
            r#"select id, kind, queue, state::text as "state!", attempt::integer as "attempt!",
                      max_attempts::integer as "max_attempts!", created_at, scheduled_at, attempted_at, finalized_at,
                      coalesce(cardinality(errors), 0) as "error_count!",
                      coalesce(errors[cardinality(errors)] ->> 'error', '') as "last_error!", args
               from public.river_job where id = $1 for update"#,
            id
        )
        .fetch_optional(conn)
        .await?
        .map(JobView::from)
        .ok_or(QueueError::NotFound)
    }

    /// Makes a waiting, discarded or cancelled job due now, with one attempt more when its own are used up.
    ///
    /// # Errors
    /// [`QueueError::Rejected`] for a running or completed job, [`QueueError::StillLive`] when a newer live job has the same arguments,
    /// [`QueueError::NotFound`], or [`QueueError::Unavailable`].
    pub async fn retry_in(&self, conn: &mut PgConnection, id: i64) -> Result<JobView, QueueError> {
        let found = self.get_in(conn, id).await?;
        let changed = sqlx::query!(
            r#"update public.river_job
               set state = 'available', scheduled_at = now(), finalized_at = null,
                   max_attempts = least(greatest(max_attempts, attempt + 1), 32767)::smallint,
                   metadata = metadata - 'cancel_attempted_at'
               where id = $1 and state not in ('running', 'completed')"#,
            id
        )
        .execute(&mut *conn)
        .await
        .map_err(|error| match error {
            sqlx::Error::Database(ref refusal) if refusal.is_unique_violation() => QueueError::StillLive,
            error => QueueError::Unavailable(error),
        })?;
        if changed.rows_affected() == 0 {
            return Err(QueueError::Rejected { state: found.state });
        }
        self.get_in(conn, id).await
    }

    /// Cancels a waiting job at once and marks a running one.
    ///
    /// # Errors
    /// [`QueueError::Rejected`] for a job that has ended, [`QueueError::NotFound`], or [`QueueError::Unavailable`].
    pub async fn cancel_in(&self, conn: &mut PgConnection, id: i64) -> Result<CancelResult, QueueError> {
        let found = self.get_in(conn, id).await?;
        let marked = sqlx::query_scalar!(
            r#"update public.river_job
               set state = case when state = 'running' then state else 'cancelled' end,
                   finalized_at = case when state = 'running' then finalized_at else now() end,
                   metadata = jsonb_set(metadata, '{cancel_attempted_at}',
                       to_jsonb(to_char(now() at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')))
               where id = $1 and state not in ('cancelled', 'completed', 'discarded')
               returning state = 'running' as "running!""#,
            id
        )
        .fetch_optional(&mut *conn)
        .await?;
        match marked {
            None => Err(QueueError::Rejected { state: found.state }),
            Some(false) => Ok(CancelResult::Cancelled),
            Some(true) => {
                sqlx::query!(
                    r#"select pg_notify('public.river_control',
                           json_build_object('action', 'cancel', 'job_id', $1::bigint, 'queue', $2::text)::text)::text as sent"#,
                    id,
                    found.queue
                )
                .fetch_one(conn)
                .await?;
                Ok(CancelResult::Marked)
            }
        }
    }

    /// Kinds of jobs that wait and that none of `known` is: left by a later version, or by another program. They stay until a worker that
    /// knows them starts.
    ///
    /// # Errors
    /// [`QueueError::Unavailable`] when the statement fails.
    pub async fn unhandled_kinds(&self, known: &[&str]) -> Result<Vec<String>, QueueError> {
        let known: Vec<String> = known.iter().map(ToString::to_string).collect();
        Ok(sqlx::query_scalar!(
            r#"select distinct kind from public.river_job
               where state in ('available', 'pending', 'retryable', 'scheduled') and kind <> all ($1) order by kind"#,
            &known
        )
        .fetch_all(&self.pool)
        .await?)
    }

    /// The live job with these arguments, if there is one.
    ///
    /// # Errors
    /// [`QueueError::Unavailable`] when the statement fails.
    pub async fn live_in<A: JobArgs>(&self, conn: &mut PgConnection, args: &A) -> Result<Option<JobView>, QueueError> {
        let row = bulk_row(args, &serde_json::Map::new())?;
        let id = sqlx::query_scalar!(
            r#"select id from public.river_job
               where unique_key = $1 and unique_states is not null
                     and public.river_job_state_in_bitmask(unique_states, state) limit 1"#,
            row.unique_key
        )
        .fetch_optional(&mut *conn)
        .await?;
        match id {
            Some(id) => self.get_in(conn, id).await.map(Some),
            None => Ok(None),
        }
    }
}
