//! The connection that holds the lock and does the work.

use sqlx::{ConnectOptions as _, Connection as _, PgConnection};
use store::{PoolOptions, StoreError, pool};

use super::PublisherError;

/// Key of the lock: advisory locks are per database, so one publisher per installation.
const KEY: (i32, i32) = (0x0f10_0002, 1);

/// A session of its own, with limits that free the lock from a stopped or hung holder.
#[derive(Debug)]
pub(super) struct Holder {
    connection: PgConnection,
    backend: i32,
}

impl Holder {
    pub(super) async fn connect(options: &PoolOptions) -> Result<Self, PublisherError> {
        let session = pool::session(options)?.options([
            ("idle_session_timeout", "3s"),
            ("statement_timeout", "10s"),
            ("plan_cache_mode", "force_generic_plan"),
            // A hand-over that a server crash forgets is forgotten whole, jobs and marks together, and done again. A job of it that had begun
            // is not forgotten: its claim's commit, which waits for the disk, carries everything written before it.
            ("synchronous_commit", "off"),
        ]);
        let mut connection = session.connect().await.map_err(StoreError::from)?;
        let backend = sqlx::query_scalar!(r#"select pg_backend_pid() as "backend!""#)
            .fetch_one(&mut connection)
            .await?;
        Ok(Self { connection, backend })
    }

    /// Takes the lock unless somebody has it. A statement of its own: with the select in one, the rows may be older than the lock.
    pub(super) async fn try_lock(&mut self) -> Result<bool, PublisherError> {
        let taken = sqlx::query!(
            r#"select pg_try_advisory_lock($1, $2) as "taken!", pg_backend_pid() as "backend!""#,
            KEY.0,
            KEY.1
        )
        .fetch_one(&mut self.connection)
        .await?;
        self.is_mine(taken.backend)?;
        Ok(taken.taken)
    }

    pub(super) const fn backend(&self) -> i32 {
        self.backend
    }

    /// Refuses answers of another backend.
    pub(super) const fn is_mine(&self, backend: i32) -> Result<(), PublisherError> {
        if backend == self.backend {
            Ok(())
        } else {
            Err(PublisherError::Pooler)
        }
    }

    pub(super) const fn connection(&mut self) -> &mut PgConnection {
        &mut self.connection
    }

    /// Frees the lock at once instead of when the server notices.
    pub(super) async fn close(self) {
        drop(self.connection.close().await);
    }
}
