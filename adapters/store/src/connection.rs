//! One connection, held from load to commit.
//!
//! A future may be dropped at any await. A connection whose statement was cut off that way, or failed in a way that leaves its session
//! in doubt, is closed instead of being given back: the next user must never meet another one's half-read answer or open transaction.

use sqlx::{Connection as _, PgConnection, PgPool, Postgres, Transaction, pool::PoolConnection};

use crate::error::is_lost;

/// A connection taken out of the pool.
#[derive(Debug)]
pub(crate) struct Checkout {
    /// Absent only once it was given to a transaction.
    connection: Option<PoolConnection<Postgres>>,
    /// A statement was sent and its end was not seen.
    unsettled: bool,
}

impl Checkout {
    pub(crate) async fn acquire(pool: &PgPool) -> Result<Self, sqlx::Error> {
        Ok(Self {
            connection: Some(pool.acquire().await?),
            unsettled: false,
        })
    }

    /// Like [`Self::acquire`], but what it returns has just answered: idle connections that died are passed over.
    pub(crate) async fn acquire_tested(pool: &PgPool) -> Result<Self, sqlx::Error> {
        for _ in 0..pool.options().get_max_connections() {
            let mut checkout = Self::acquire(pool).await?;
            let answer = checkout.unsettled()?.ping().await;
            checkout.settle(&answer);
            if answer.is_ok() {
                return Ok(checkout);
            }
        }
        Self::acquire(pool).await
    }

    /// The connection, for one statement. Call [`Self::settle`] with its outcome.
    pub(crate) fn unsettled(&mut self) -> Result<&mut PgConnection, sqlx::Error> {
        self.unsettled = true;
        self.connection.as_deref_mut().ok_or(sqlx::Error::WorkerCrashed)
    }

    /// The statement ended; the session is in order unless it was lost.
    pub(crate) fn settle<T>(&mut self, outcome: &Result<T, sqlx::Error>) {
        self.unsettled = match outcome {
            Ok(_) => false,
            Err(error @ sqlx::Error::Database(_)) => is_lost(error),
            Err(_) => true,
        };
    }

    /// Begins a transaction, on a task of its own: cut off between BEGIN and its answer, sqlx would give the connection back with the
    /// transaction open. From then on sqlx's own guard queues the rollback, and the return to the pool waits for it.
    pub(crate) async fn begin(mut self) -> Result<Transaction<'static, Postgres>, sqlx::Error> {
        let connection = self.connection.take().ok_or(sqlx::Error::WorkerCrashed)?;
        let begun = tokio::spawn(async move { Transaction::begin(connection, None).await });
        begun
            .await
            .unwrap_or_else(|stopped| Err(sqlx::Error::Io(std::io::Error::other(stopped))))
    }
}

impl Drop for Checkout {
    fn drop(&mut self) {
        if let (true, Some(connection)) = (self.unsettled, &mut self.connection) {
            connection.close_on_drop();
        }
    }
}
