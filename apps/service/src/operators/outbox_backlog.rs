//! How far the publisher is behind.

use std::time::Duration;

use crate::{Error, Service};

/// What waits to be handed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backlog {
    /// Rows, those of blocked streams included.
    pub pending_count: i64,
    /// Whole seconds since the oldest was written; 0 when there is none.
    pub oldest_age_seconds: i64,
}

impl Service {
    /// Counts what waits in the outbox.
    ///
    /// # Errors
    /// A fault of the store.
    pub async fn outbox_backlog(&self) -> Result<Backlog, Error> {
        let backlog = store::outbox::backlog(self.store.pool()).await?;
        Ok(Backlog {
            pending_count: backlog.pending,
            oldest_age_seconds: Duration::try_from_secs_f64(backlog.oldest_age_seconds)
                .ok()
                .and_then(|age| i64::try_from(age.as_secs()).ok())
                .unwrap_or(i64::MAX),
        })
    }
}
