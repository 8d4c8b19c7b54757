//! Work that outlives the request that started it, and its end when the sandbox stops.

use std::{future::Future, time::Duration};

use tokio::task::JoinHandle;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// Everything a sandbox has running beside its listeners. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Background {
    tracker: TaskTracker,
    stopping: CancellationToken,
}

impl Background {
    /// Runs a future to its end even if whoever started it goes away.
    pub fn spawn<F>(&self, work: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.tracker.spawn(work)
    }

    /// Waits; `false` when the sandbox is stopping: then nothing more may be done.
    pub async fn sleep(&self, span: Duration) -> bool {
        if span.is_zero() {
            return !self.stopping.is_cancelled();
        }
        tokio::select! {
            () = self.stopping.cancelled() => false,
            () = tokio::time::sleep(span) => true,
        }
    }

    pub(crate) async fn stopped(self) {
        self.stopping.cancelled().await;
    }

    /// Tells everything to end and waits for it, at most `limit`.
    pub(crate) async fn stop(&self, limit: Duration) {
        self.stopping.cancel();
        self.tracker.close();
        if tokio::time::timeout(limit, self.tracker.wait()).await.is_err() {
            tracing::warn!("the sandbox left unfinished requests behind");
        }
    }

    /// Tells everything to end without waiting.
    pub(crate) fn abandon(&self) {
        self.stopping.cancel();
    }
}
