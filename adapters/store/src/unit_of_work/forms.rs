//! The two forms of a commit: the append statement alone, or inside a transaction after side rows.

use std::ops::{Deref, DerefMut};

use sqlx::{PgConnection, Postgres, Transaction};

use tracing::Instrument as _;

use super::{Committed, append, meter::Meter, store::Store, work::Work};
use crate::{StoreError, connection::Checkout};

/// Loaded streams on the connection that will commit them. Dropping it writes nothing.
#[derive(Debug)]
#[must_use = "nothing is written before commit"]
pub struct UnitOfWork {
    store: Store,
    connection: Checkout,
    work: Work,
}

impl UnitOfWork {
    pub(super) fn new(store: Store, connection: Checkout, work: Work) -> Self {
        Self {
            store,
            connection,
            work,
        }
    }

    /// Reads on the connection that this holds. Whoever asks the pool for a second connection while holding a first one waits, in a
    /// full pool, for others that do the same.
    ///
    /// # Errors
    /// What `read` returns; the connection is then closed instead of being given back.
    pub async fn read<T>(
        &mut self,
        read: impl AsyncFnOnce(&mut PgConnection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let outcome = read(self.connection.unsettled()?).await?;
        self.connection.settle(&Ok::<_, sqlx::Error>(()));
        Ok(outcome)
    }

    /// Writes everything that was buffered by one statement. With nothing buffered, nothing is sent.
    ///
    /// # Errors
    /// [`StoreError::Conflict`] and [`StoreError::CommitUnknown`] (rerun with the same ids), [`StoreError::Constraint`], …
    pub async fn commit(mut self) -> Result<Committed, StoreError> {
        if self.work.buffer.is_empty() {
            return Ok(Committed {
                position: self.work.position(),
                hinted: false,
            });
        }
        append::check(&self.work)?;
        fail::fail_point!("append.before_commit", |_| Err(StoreError::CommitUnknown(
            sqlx::Error::WorkerCrashed
        )));
        let connection = self.connection.unsettled()?;
        let meter = Meter::start(&self.work);
        let outcome = append::append(connection, &mut self.work)
            .instrument(meter.span())
            .await;
        self.connection.settle(&outcome);
        let outcome = outcome.map_err(refused);
        meter.ended(&self.work, outcome.as_ref().err());
        fail::fail_point!("append.after_commit", |_| Err(StoreError::CommitUnknown(
            sqlx::Error::WorkerCrashed
        )));
        Ok(self.store.committed(&self.work, outcome?))
    }

    /// The second form: begins a transaction for side rows that the same commit shall hold.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] and the like.
    pub async fn begin(self) -> Result<OpenUnitOfWork, StoreError> {
        let Self {
            store,
            connection,
            work,
        } = self;
        Ok(OpenUnitOfWork {
            store,
            transaction: connection.begin().await?,
            work,
        })
    }
}

/// A unit of work inside a transaction. Dropping it rolls back.
#[derive(Debug)]
#[must_use = "nothing is written before commit"]
pub struct OpenUnitOfWork {
    store: Store,
    transaction: Transaction<'static, Postgres>,
    work: Work,
}

impl OpenUnitOfWork {
    /// The connection of the transaction, for side rows. Tables in the order that ARCHITECTURE gives.
    pub fn conn(&mut self) -> &mut PgConnection {
        &mut self.transaction
    }

    /// Flushes what was buffered by the append statement, and commits.
    ///
    /// # Errors
    /// As [`UnitOfWork::commit`].
    pub async fn commit(self) -> Result<Committed, StoreError> {
        append::check(&self.work)?;
        fail::fail_point!("append.before_commit", |_| Err(StoreError::CommitUnknown(
            sqlx::Error::WorkerCrashed
        )));
        let meter = Meter::start(&self.work);
        let Self {
            store,
            mut transaction,
            mut work,
        } = self;
        let outcome = async {
            let written = if work.buffer.is_empty() {
                None
            } else {
                append::append(&mut transaction, &mut work).await?
            };
            transaction.commit().await?;
            Ok(written)
        }
        .instrument(meter.span())
        .await;
        let outcome = outcome.map_err(refused);
        meter.ended(&work, outcome.as_ref().err());
        let written = outcome?;
        fail::fail_point!("append.after_commit", |_| Err(StoreError::CommitUnknown(
            sqlx::Error::WorkerCrashed
        )));
        Ok(store.committed(&work, written))
    }

    /// Takes everything back, now. Dropping does the same a little later.
    pub async fn rollback(self) {
        self.transaction.rollback().await.ok();
    }
}

/// Classes an error of the commit, and counts conflicts.
fn refused(error: sqlx::Error) -> StoreError {
    let refused = StoreError::at_commit(error);
    if matches!(refused, StoreError::Conflict) {
        metrics::counter!("omniflow_append_conflicts_total").increment(1);
    }
    refused
}

impl Deref for UnitOfWork {
    type Target = Work;

    fn deref(&self) -> &Work {
        &self.work
    }
}

impl DerefMut for UnitOfWork {
    fn deref_mut(&mut self) -> &mut Work {
        &mut self.work
    }
}

impl Deref for OpenUnitOfWork {
    type Target = Work;

    fn deref(&self) -> &Work {
        &self.work
    }
}

impl DerefMut for OpenUnitOfWork {
    fn deref_mut(&mut self) -> &mut Work {
        &mut self.work
    }
}
