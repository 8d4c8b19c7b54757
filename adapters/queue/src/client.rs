//! Inserting jobs. Every process may; only the worker executes.

use std::time::Duration;

use riverqueue::JobArgs;
use serde_json::{Map, Value};
use sqlx::{PgConnection, PgPool};

use crate::{QueueError, bulk_row};

/// Inserts, lists and changes jobs.
#[derive(Clone, Debug)]
pub struct JobClient {
    pub(crate) pool: PgPool,
}

/// What became of an insert.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inserted {
    /// The new job, or the live one that stands in its way.
    pub id: i64,
    /// A live job with the same arguments exists: nothing was inserted.
    pub skipped_as_duplicate: bool,
}

impl Inserted {
    /// For callers that expect a run of their own.
    ///
    /// # Errors
    /// [`QueueError::StillLive`] when nothing was inserted.
    pub const fn expect_new(self) -> Result<i64, QueueError> {
        if self.skipped_as_duplicate {
            Err(QueueError::StillLive)
        } else {
            Ok(self.id)
        }
    }
}

impl JobClient {
    /// A client over a pool. Connections are taken only by calls that get none from their caller.
    pub const fn new(pool: PgPool) -> Self {
        Self { pool }
    }

    /// The pool behind it.
    pub const fn pool(&self) -> &PgPool {
        &self.pool
    }

    /// Inserts a job that is due at once, as part of the caller's transaction.
    ///
    /// # Errors
    /// [`QueueError`] when the statement fails; the caller's transaction is then to be rolled back.
    pub async fn insert_in<A: JobArgs>(
        &self,
        conn: &mut PgConnection,
        args: &A,
        metadata: &Map<String, Value>,
    ) -> Result<Inserted, QueueError> {
        self.insert_after_in(conn, args, metadata, Duration::ZERO).await
    }

    /// As [`Self::insert_in`], due after `delay` by the database's clock.
    ///
    /// # Errors
    /// As [`Self::insert_in`].
    pub async fn insert_after_in<A: JobArgs>(
        &self,
        conn: &mut PgConnection,
        args: &A,
        metadata: &Map<String, Value>,
        delay: Duration,
    ) -> Result<Inserted, QueueError> {
        let row = bulk_row(args, metadata)?;
        let inserted = sqlx::query!(
            r#"with inserted as (
                 insert into public.river_job as job
                     (args, kind, max_attempts, metadata, queue, scheduled_at, state, unique_key, unique_states)
                 values ($1::text::jsonb, $2, $3, $4::text::jsonb, $5, clock_timestamp() + make_interval(secs => $6::float8),
                         (case when $6::float8 > 0 then 'scheduled' else 'available' end)::public.river_job_state,
                         $7, $8::integer::bit(8))
                 on conflict (unique_key)
                     where unique_key is not null and unique_states is not null
                           and public.river_job_state_in_bitmask(unique_states, state)
                     -- River's own way: the row that stands in the way is returned, and locked until this transaction ends
                     do update set kind = job.kind
                 returning id, xmax <> 0 as duplicate)
               select id as "id!", duplicate as "duplicate!",
                      pg_notify('public.river_insert', json_build_object('queue', $5::text)::text)::text as notified
               from inserted"#,
            row.args_json,
            row.kind,
            row.max_attempts,
            row.metadata_json,
            row.queue,
            delay.as_secs_f64(),
            row.unique_key,
            row.unique_states,
        )
        .fetch_one(conn)
        .await?;
        Ok(Inserted {
            id: inserted.id,
            skipped_as_duplicate: inserted.duplicate,
        })
    }

    /// As [`Self::insert_in`], in a statement of its own.
    ///
    /// # Errors
    /// As [`Self::insert_in`].
    pub async fn insert<A: JobArgs>(&self, args: &A, metadata: &Map<String, Value>) -> Result<Inserted, QueueError> {
        let mut conn = self.pool.acquire().await?;
        self.insert_in(&mut conn, args, metadata).await
    }
}
