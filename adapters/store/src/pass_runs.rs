//! The last run of each periodic pass: whether one is on, whether it is time for another, and how the last one ended. All times are the
//! database's.
//!
//! A run is on while its `alive_until` lies ahead. Its process moves that time; when the process dies nobody does, so a killed run is known
//! as such within half a minute and holds up nobody for longer.

use std::time::Duration;

use chrono::{DateTime, Utc};
use serde_json::Value;
use sqlx::{PgConnection, PgPool};

use crate::StoreError;

/// A run that is about to begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewRun<'a> {
    /// Name of the pass.
    pub task: &'a str,
    /// Not before nine tenths of it are over since the last run began, unless that one failed. `None` asks for a run now.
    pub every: Option<Duration>,
    /// The run counts as killed when it is not heard of for so long.
    pub lease: Duration,
    /// Names the process.
    pub runner: &'a str,
    /// The queue's job.
    pub job_id: Option<i64>,
}

/// Whether a run may begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Begin {
    /// It began then.
    Begun(DateTime<Utc>),
    /// The last one began a short while ago and did not fail.
    NotDue,
    /// Another one is on.
    Busy {
        /// Since then.
        since: DateTime<Utc>,
        /// Names its process.
        runner: String,
    },
}

/// The last run of a pass.
#[derive(Clone, Debug, PartialEq)]
pub struct PassRow {
    /// Name of the pass.
    pub task: String,
    /// When it began.
    pub started_at: DateTime<Utc>,
    /// When it ended; for a killed one, when it was last known to be alive.
    pub finished_at: Option<DateTime<Utc>>,
    /// `running`, `succeeded`, `failed`, or `lost`: killed, and nobody has noted it yet.
    pub state: String,
    /// Its figures, or the code of its failure.
    pub detail: Option<Value>,
    /// Names its process.
    pub runner: Option<String>,
    /// Start of the last run that succeeded.
    pub last_success_at: Option<DateTime<Utc>>,
}

/// A run whose process died.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostRun {
    /// Name of the pass.
    pub task: String,
    /// The queue's job.
    pub job_id: Option<i64>,
}

/// Begins a run unless one is on or none is due.
///
/// # Errors
/// [`StoreError`] when a statement fails.
pub async fn begin_in(conn: &mut PgConnection, new: NewRun<'_>) -> Result<Begin, StoreError> {
    let started_at = sqlx::query_scalar!(
        r#"insert into pass_runs as run (task, started_at, alive_until, runner, job_id)
           select $1, now.at, now.at + make_interval(secs => $3::float8), $4, $5 from (select clock_timestamp() as at) now
           on conflict (task) do update
               set started_at = excluded.started_at, alive_until = excluded.alive_until, runner = excluded.runner,
                   job_id = excluded.job_id, finished_at = null, outcome = null, detail = null
               where (run.finished_at is not null or run.alive_until is null or run.alive_until <= clock_timestamp())
                 and ($2::float8 is null or run.finished_at is null or run.outcome = 'failed'
                      or run.started_at <= clock_timestamp() - make_interval(secs => 0.9 * $2::float8))
           returning started_at"#,
        new.task,
        new.every.map(|every| every.as_secs_f64()),
        new.lease.as_secs_f64(),
        new.runner,
        new.job_id
    )
    .fetch_optional(&mut *conn)
    .await?;
    if let Some(started_at) = started_at {
        return Ok(Begin::Begun(started_at));
    }
    let on = sqlx::query!(
        "select started_at, runner from pass_runs where task = $1 and finished_at is null and alive_until > clock_timestamp()",
        new.task
    )
    .fetch_optional(conn)
    .await?;
    Ok(on.map_or(Begin::NotDue, |run| Begin::Busy {
        since: run.started_at,
        runner: run.runner.unwrap_or_default(),
    }))
}

/// Says that the run that began at `started_at` is alive. `false` when it is no longer the last one: somebody took it to be killed.
///
/// # Errors
/// [`StoreError`] when the statement fails.
pub async fn beat(pool: &PgPool, task: &str, started_at: DateTime<Utc>, lease: Duration) -> Result<bool, StoreError> {
    let moved = sqlx::query!(
        "update pass_runs set alive_until = clock_timestamp() + make_interval(secs => $3)
         where task = $1 and started_at = $2 and finished_at is null",
        task,
        started_at,
        lease.as_secs_f64()
    )
    .execute(pool)
    .await?;
    Ok(moved.rows_affected() == 1)
}

/// Notes how the run that began at `started_at` ended. A run that was overtaken changes nothing.
///
/// # Errors
/// [`StoreError`] when the statement fails.
pub async fn end_in(
    conn: &mut PgConnection,
    task: &str,
    started_at: DateTime<Utc>,
    succeeded: bool,
    detail: &Value,
) -> Result<(), StoreError> {
    sqlx::query!(
        r#"update pass_runs
           set finished_at = clock_timestamp(), outcome = case when $3 then 'succeeded' else 'failed' end, detail = $4,
               last_success_at = case when $3 then started_at else last_success_at end
           where task = $1 and started_at = $2 and finished_at is null"#,
        task,
        started_at,
        succeeded,
        detail
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Notes as failed what was killed, of any pass, once.
///
/// # Errors
/// [`StoreError`] when the statement fails.
pub async fn close_lost_in(conn: &mut PgConnection) -> Result<Vec<LostRun>, StoreError> {
    Ok(sqlx::query_as!(
        LostRun,
        r#"update pass_runs
           set finished_at = coalesce(alive_until, started_at), outcome = 'failed', detail = '{"code": "run_lost"}'
           where finished_at is null and (alive_until is null or alive_until <= clock_timestamp())
           returning task, job_id"#
    )
    .fetch_all(conn)
    .await?)
}

/// The last run of every pass that ever ran.
///
/// # Errors
/// [`StoreError`] when the statement fails.
pub async fn list(pool: &PgPool) -> Result<Vec<PassRow>, StoreError> {
    Ok(sqlx::query_as!(
        PassRow,
        r#"select task, started_at, finished_at, detail, runner, last_success_at,
                  coalesce(outcome, case when alive_until > clock_timestamp() then 'running' else 'lost' end) as "state!"
           from pass_runs order by task"#
    )
    .fetch_all(pool)
    .await?)
}
