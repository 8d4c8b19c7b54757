//! The hint that something was committed. It only shortens the wait: polling finds everything without it.

use std::{sync::Arc, time::Duration};

use sqlx::postgres::{PgListener, PgPoolOptions};
use store::{PoolOptions, StoreError, hint::CHANNEL, pool};
use tokio::{sync::Notify, task::JoinSet};

/// Pause after the listening connection broke.
const RETRY: Duration = Duration::from_secs(1);

/// A listener that ends when this value is dropped.
#[derive(Debug)]
pub(super) struct Hint {
    wake: Arc<Notify>,
    _listening: JoinSet<()>,
}

impl Hint {
    pub(super) fn listen(options: &PoolOptions) -> Result<Self, StoreError> {
        let pool = PgPoolOptions::new()
            .max_connections(1)
            .connect_lazy_with(pool::session(options)?);
        let wake = Arc::new(Notify::new());
        let mut listening = JoinSet::new();
        let waker = Arc::clone(&wake);
        listening.spawn(async move {
            loop {
                if let Err(error) = follow(&pool, &waker).await {
                    tracing::debug!(%error, "no hints for a while");
                }
                tokio::time::sleep(RETRY).await;
            }
        });
        Ok(Self {
            wake,
            _listening: listening,
        })
    }

    /// Waits for a hint, or for `pause`. `true`: there was a hint.
    pub(super) async fn wait(&self, pause: Duration) -> bool {
        tokio::time::timeout(pause, self.wake.notified()).await.is_ok()
    }
}

async fn follow(pool: &sqlx::PgPool, wake: &Notify) -> Result<(), sqlx::Error> {
    let mut listener = PgListener::connect_with(pool).await?;
    listener.listen(CHANNEL).await?;
    loop {
        listener.recv().await?;
        wake.notify_one();
    }
}
