//! One connection, held from load to commit.
//!
//! A future may be dropped at any await. A connection whose statement was cut off that way, or failed in a way that leaves its session
//! in doubt, is closed instead of being given back: the next user must never meet another one's half-read answer or open transaction.

use std::sync::Arc;

use sqlx::{Connection as _, PgConnection, Postgres, Transaction};

use crate::{
    error::is_lost,
    warm::{Kept, Warm},
};

/// A connection in use.
#[derive(Debug)]
pub(crate) struct Checkout {
    home: Arc<Warm>,
    /// Absent only once it was given to a transaction.
    kept: Option<Kept>,
    /// A statement was sent and its end was not seen.
    unsettled: bool,
}

impl Checkout {
    pub(crate) async fn acquire(home: &Arc<Warm>) -> Result<Self, sqlx::Error> {
        Ok(Self {
            home: Arc::clone(home),
            kept: Some(home.take().await?),
            unsettled: false,
        })
    }

    /// Like [`Self::acquire`], but what it returns has just answered: idle connections that died are passed over.
    pub(crate) async fn acquire_tested(home: &Arc<Warm>) -> Result<Self, sqlx::Error> {
        home.let_go();
        let untested = || async {
            let kept = home.take_from_pool().await?;
            Ok::<_, sqlx::Error>(Self {
                home: Arc::clone(home),
                kept: Some(kept),
                unsettled: false,
            })
        };
        for _ in 0..home.pool().options().get_max_connections() {
            let mut checkout = untested().await?;
            let answer = checkout.unsettled()?.ping().await;
            checkout.settle(&answer);
            if answer.is_ok() {
                return Ok(checkout);
            }
        }
        untested().await
    }

    /// The connection, for one statement. Call [`Self::settle`] with its outcome.
    pub(crate) fn unsettled(&mut self) -> Result<&mut PgConnection, sqlx::Error> {
        self.unsettled = true;
        self.kept
            .as_mut()
            .map(|kept| &mut *kept.connection)
            .ok_or(sqlx::Error::WorkerCrashed)
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
        let kept = self.kept.take().ok_or(sqlx::Error::WorkerCrashed)?;
        let begun = tokio::spawn(async move { Transaction::begin(kept.connection, None).await });
        begun
            .await
            .unwrap_or_else(|stopped| Err(sqlx::Error::Io(std::io::Error::other(stopped))))
    }
}

impl Drop for Checkout {
    fn drop(&mut self) {
        match self.kept.take() {
            Some(mut kept) if self.unsettled => kept.connection.close_on_drop(),
            Some(kept) => self.home.put(kept),
            None => {}
        }
    }
}
