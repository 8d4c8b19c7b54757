//! Jobs that ended without success: those that our own record does not hold yet, and the removal of those that it has held long enough.
//!
//! River's own cleaner leaves them alone ([`crate::Running`] tells it to keep them), so none can be removed before it was recorded, however
//! long nobody looked.

use std::time::Duration;

use chrono::{DateTime, Utc};

use crate::{JobClient, QueueError, Subject};

/// Longest text of an error that is read, in characters.
const LONGEST_ERROR: i32 = 8_000;

/// A job that ended without success.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadJob {
    /// River's id.
    pub id: i64,
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
    /// The record that the arguments point at.
    pub subject: Subject,
    /// Attempts that failed.
    pub error_count: i32,
    /// Text of the last error, empty if there was none. Not redacted.
    pub last_error: String,
    /// Ties together everything that one request set off; empty where the job names none.
    pub correlation_id: String,
    /// When it was made.
    pub created_at: DateTime<Utc>,
    /// Begin of the last attempt.
    pub attempted_at: Option<DateTime<Utc>>,
    /// When it ended.
    pub finalized_at: DateTime<Utc>,
}

impl DeadJob {
    /// River took it back from a worker that had vanished, and its attempts were used up.
    pub fn was_lost(&self) -> bool {
        self.last_error == crate::handler::RESCUED
    }
}

struct Row {
    id: i64,
    kind: String,
    queue: String,
    state: String,
    attempt: i32,
    max_attempts: i32,
    args: serde_json::Value,
    error_count: i32,
    last_error: String,
    correlation_id: String,
    created_at: DateTime<Utc>,
    attempted_at: Option<DateTime<Utc>>,
    finalized_at: DateTime<Utc>,
}

impl From<Row> for DeadJob {
    fn from(row: Row) -> Self {
        Self {
            subject: Subject::of(&row.kind, &row.args),
            id: row.id,
            kind: row.kind,
            queue: row.queue,
            state: row.state,
            attempt: row.attempt,
            max_attempts: row.max_attempts,
            error_count: row.error_count,
            last_error: row.last_error,
            correlation_id: row.correlation_id,
            created_at: row.created_at,
            attempted_at: row.attempted_at,
            finalized_at: row.finalized_at,
        }
    }
}

impl JobClient {
    /// Gives back jobs of kinds that the leader's version does not know. River discards such a job once it lost its worker, although it has
    /// attempts left and a worker of another version would run it; known kinds are retried. One whose place was taken meanwhile stays.
    /// Answers how many, at most `limit`.
    ///
    /// # Errors
    /// [`QueueError::Unavailable`] when the statement fails.
    pub async fn restore_strangers(&self, limit: i64) -> Result<u64, QueueError> {
        let restored = sqlx::query!(
            r#"update public.river_job set state = 'available', finalized_at = null, scheduled_at = now() where id in (
                 select id from public.river_job job
                 where state = 'discarded' and attempt < max_attempts and errors[cardinality(errors)] ->> 'error' = $1
                   and not exists (select from public.dead_jobs dead where dead.job_id = job.id and dead.finalized_at = job.finalized_at)
                   and (unique_key is null or not exists (
                          select from public.river_job other
                          where other.unique_key = job.unique_key and other.id <> job.id
                            and (other.state not in ('cancelled', 'completed', 'discarded') or other.id > job.id)))
                 order by finalized_at limit $2
                 for update skip locked)"#,
            crate::handler::RESCUED,
            limit
        )
        .execute(&self.pool)
        .await?;
        Ok(restored.rows_affected())
    }

    /// Jobs that ended without success and that `dead_jobs` does not hold, longest ended first.
    ///
    /// # Errors
    /// [`QueueError::Unavailable`] when the statement fails.
    pub async fn unrecorded_dead(&self, limit: i64) -> Result<Vec<DeadJob>, QueueError> {
        let rows = sqlx::query_as!(
            Row,
            r#"select id, kind, queue, state::text as "state!", attempt::integer as "attempt!",
                      max_attempts::integer as "max_attempts!", args, coalesce(cardinality(errors), 0) as "error_count!",
                      left(coalesce(errors[cardinality(errors)] ->> 'error', ''), $2) as "last_error!",
                      left(coalesce(metadata ->> 'correlationId', ''), 200) as "correlation_id!",
                      created_at, attempted_at, finalized_at as "finalized_at!"
               from public.river_job job
               where state in ('cancelled', 'discarded') and finalized_at is not null
                     and not exists (select from public.dead_jobs dead where dead.job_id = job.id and dead.finalized_at = job.finalized_at)
               order by finalized_at, id limit $1"#,
            limit,
            LONGEST_ERROR
        )
        .fetch_all(&self.pool)
        .await?;
        Ok(rows.into_iter().map(DeadJob::from).collect())
    }

    /// Removes jobs that ended without success and are recorded: cancelled ones after `cancelled`, discarded ones after `discarded`.
    /// Answers how many, at most `limit`.
    ///
    /// # Errors
    /// [`QueueError::Unavailable`] when the statement fails.
    pub async fn prune_recorded(
        &self,
        cancelled: Duration,
        discarded: Duration,
        limit: i64,
    ) -> Result<u64, QueueError> {
        let gone = sqlx::query!(
            r#"delete from public.river_job where id in (
                 select id from public.river_job job
                 where (state = 'cancelled' and finalized_at < now() - make_interval(secs => $1)
                        or state = 'discarded' and finalized_at < now() - make_interval(secs => $2))
                   and exists (select from public.dead_jobs dead where dead.job_id = job.id and dead.finalized_at = job.finalized_at)
                 order by finalized_at limit $3
                 for update skip locked)"#,
            cancelled.as_secs_f64(),
            discarded.as_secs_f64(),
            limit
        )
        .execute(&self.pool)
        .await?;
        Ok(gone.rows_affected())
    }
}
