//! Our record of every job that ended without success. It outlives the queue's rows.

use std::time::Duration;

use domain::time::Timestamp;
use serde_json::Value;
use sqlx::{PgConnection, PgPool};

use crate::StoreError;

/// An end to be recorded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NewDeadJob<'a> {
    /// The queue's id.
    pub job_id: i64,
    /// When it ended; together with the id the key.
    pub finalized_at: Timestamp,
    /// Its kind.
    pub kind: &'a str,
    /// Name of its queue.
    pub queue: &'a str,
    /// `cancelled` or `discarded`.
    pub state: &'a str,
    /// Attempts begun.
    pub attempt: i32,
    /// After so many it is discarded.
    pub max_attempts: i32,
    /// As in dead letters.
    pub subject: &'a str,
    /// An object of ids.
    pub args_summary: &'a Value,
    /// Attempts that failed.
    pub error_count: i32,
    /// Redacted, at most 500 characters.
    pub last_error: &'a str,
    /// Ties together everything that one request set off.
    pub correlation_id: &'a str,
    /// When it was made.
    pub created_at: Timestamp,
    /// Begin of the last attempt.
    pub attempted_at: Option<Timestamp>,
}

/// A recorded end.
#[derive(Clone, Debug, PartialEq)]
pub struct Stored {
    /// Its place in the order of recording.
    pub id: i64,
    /// The queue's id.
    pub job_id: i64,
    /// Its kind.
    pub kind: String,
    /// Name of its queue.
    pub queue: String,
    /// `cancelled` or `discarded`.
    pub state: String,
    /// Attempts begun.
    pub attempt: i32,
    /// After so many it is discarded.
    pub max_attempts: i32,
    /// An object of ids.
    pub args_summary: Value,
    /// Attempts that failed.
    pub error_count: i32,
    /// Redacted.
    pub last_error: String,
    /// Ties together everything that one request set off.
    pub correlation_id: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// Begin of the last attempt.
    pub attempted_at: Option<Timestamp>,
    /// When it ended.
    pub finalized_at: Timestamp,
    /// What it was for still waits for a person.
    pub open: bool,
}

/// Which ends. Every condition that is set must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// As stored.
    pub kind: Option<String>,
    /// `cancelled` or `discarded`.
    pub state: Option<String>,
    /// Only what still waits for a person.
    pub open_only: bool,
    /// Only older records than this.
    pub before: Option<i64>,
    /// At most so many.
    pub limit: i64,
}

/// Records an end; `false` when it was recorded before.
///
/// # Errors
/// [`StoreError`] when the statement fails.
pub async fn record_in(conn: &mut PgConnection, job: NewDeadJob<'_>) -> Result<bool, StoreError> {
    let recorded = sqlx::query!(
        r#"insert into dead_jobs (job_id, finalized_at, kind, queue, state, attempt, max_attempts, subject, args_summary, error_count,
                                  last_error, correlation_id, created_at, attempted_at)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
           on conflict on constraint dead_jobs_end_key do nothing"#,
        job.job_id,
        job.finalized_at,
        job.kind,
        job.queue,
        job.state,
        job.attempt,
        job.max_attempts,
        job.subject,
        job.args_summary,
        job.error_count,
        job.last_error,
        job.correlation_id,
        job.created_at,
        job.attempted_at
    )
    .execute(conn)
    .await?;
    Ok(recorded.rows_affected() == 1)
}

/// Recorded ends, newest record first.
///
/// # Errors
/// [`StoreError`] when the statement fails.
pub async fn list(pool: &PgPool, filter: &Filter) -> Result<Vec<Stored>, StoreError> {
    Ok(sqlx::query_as!(
        Stored,
        r#"select id, job_id, kind, queue, state, attempt, max_attempts, args_summary, error_count, last_error, correlation_id,
                  created_at, attempted_at, finalized_at, open as "open!"
           from (select dead_jobs.*, exists (select from dead_letters letter where letter.kind = dead_jobs.kind
                                             and letter.subject = dead_jobs.subject and letter.resolved_at is null) as open
                 from dead_jobs) ended
           where ($1::text is null or kind = $1) and ($2::text is null or state = $2) and (open or not $3)
             and ($4::bigint is null or id < $4)
           order by id desc limit $5"#,
        filter.kind,
        filter.state,
        filter.open_only,
        filter.before,
        filter.limit
    )
    .fetch_all(pool)
    .await?)
}

/// Removes records older than `keep` whose subject waits for nobody. Answers how many, at most `limit`.
///
/// # Errors
/// [`StoreError`] when the statement fails.
pub async fn prune(pool: &PgPool, keep: Duration, limit: i64) -> Result<u64, StoreError> {
    let gone = sqlx::query!(
        r#"delete from dead_jobs where id in (
             select id from dead_jobs old
             where recorded_at < clock_timestamp() - make_interval(secs => $1)
               and not exists (select from dead_letters letter where letter.kind = old.kind and letter.subject = old.subject
                               and letter.resolved_at is null)
               and not exists (select from public.river_job job where job.id = old.job_id)
             order by recorded_at limit $2)"#,
        keep.as_secs_f64(),
        limit
    )
    .execute(pool)
    .await?;
    Ok(gone.rows_affected())
}
