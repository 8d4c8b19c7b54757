//! Connections kept ready between commands.
//!
//! sqlx tests every connection on its return to the pool: one round trip more, where a whole command has two. A connection whose last
//! statement ended in order needs no test, so up to half of the pool's connections wait here instead. The other half stays with the pool,
//! for whoever asks it directly. What is kept passes through the pool once a minute, which tests it and ends it when it is old.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use sqlx::{PgPool, Postgres, pool::PoolConnection};
use tokio::runtime::Handle;

/// How long a connection may go without having passed through the pool.
const UNTESTED: Duration = Duration::from_mins(1);

/// A pool, and what is kept of it.
#[derive(Debug)]
pub(crate) struct Warm {
    pool: PgPool,
    most: usize,
    kept: Mutex<Vec<Kept>>,
    /// Where connections are given back to the pool.
    runtime: Option<Handle>,
}

/// A connection out of the pool.
#[derive(Debug)]
pub(crate) struct Kept {
    pub(crate) connection: PoolConnection<Postgres>,
    /// When the pool last gave it out.
    since: Instant,
}

impl Warm {
    /// Keeps nothing where no runtime could give it back when the pool closes.
    pub(crate) fn new(pool: PgPool) -> Arc<Self> {
        let runtime = Handle::try_current().ok();
        let half = usize::try_from(pool.options().get_max_connections() / 2).unwrap_or_default();
        let warm = Arc::new(Self {
            most: if runtime.is_some() { half } else { 0 },
            kept: Mutex::default(),
            pool,
            runtime,
        });
        if let Some(runtime) = &warm.runtime {
            // A pool that closes waits for every connection that is out.
            let (mut closing, weak) = (warm.pool.close_event(), Arc::downgrade(&warm));
            runtime.spawn(async move {
                (&mut closing).await;
                if let Some(warm) = weak.upgrade() {
                    warm.let_go();
                }
            });
        }
        warm
    }

    pub(crate) fn pool(&self) -> &PgPool {
        &self.pool
    }

    /// A connection that was used not long ago, or one of the pool.
    pub(crate) async fn take(&self) -> Result<Kept, sqlx::Error> {
        if let Some(kept) = self.lock().pop()
            && kept.since.elapsed() < UNTESTED
        {
            return Ok(kept);
        }
        self.take_from_pool().await
    }

    /// A connection of the pool.
    pub(crate) async fn take_from_pool(&self) -> Result<Kept, sqlx::Error> {
        Ok(Kept {
            connection: self.pool.acquire().await?,
            since: Instant::now(),
        })
    }

    /// Takes a connection back whose session is in order.
    pub(crate) fn put(&self, kept: Kept) {
        let mut waiting = self.lock();
        if waiting.len() < self.most && !self.pool.is_closed() {
            waiting.push(kept);
        }
        // Otherwise dropping it returns it to the pool.
    }

    /// Gives everything that is kept back to the pool, which finds out what is still alive.
    pub(crate) fn let_go(&self) {
        let kept = std::mem::take(&mut *self.lock());
        drop(kept);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Kept>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Warm {
    /// A connection that goes back to its pool needs a runtime, wherever this is dropped.
    fn drop(&mut self) {
        let _entered = self.runtime.as_ref().map(Handle::enter);
        self.let_go();
    }
}
