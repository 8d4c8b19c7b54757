//! A transaction over side rows alone, for records that add no event.

use sqlx::{PgConnection, PgPool, Postgres, Transaction};

use crate::StoreError;

/// Begun, and rolled back when dropped.
#[derive(Debug)]
#[must_use]
pub struct SideRows(Transaction<'static, Postgres>);

impl SideRows {
    /// Begins on a connection of the pool. The caller may be dropped meanwhile: no connection goes back with a transaction half begun.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] when there is no connection.
    pub async fn begin(pool: &PgPool) -> Result<Self, StoreError> {
        Ok(Self(riverqueue::database::begin_postgres(pool).await?))
    }

    /// The connection, for functions that end in `_in`.
    pub fn conn(&mut self) -> &mut PgConnection {
        &mut self.0
    }

    /// Commits.
    ///
    /// # Errors
    /// [`StoreError::CommitUnknown`] when the connection was lost meanwhile.
    pub async fn commit(self) -> Result<(), StoreError> {
        self.0.commit().await.map_err(StoreError::at_commit)
    }

    /// Gives up at once, so that locks do not outlive the decision.
    pub async fn rollback(self) {
        if let Err(error) = self.0.rollback().await {
            tracing::debug!(%error, "a rollback was not confirmed");
        }
    }
}
