//! How far the publisher is behind, and a blocked stream's next try.

use std::time::Duration;

use serde_json::json;
use store::{
    SideRows,
    audit::{self, Category, Target},
    outbox,
};

use crate::{Caller, Error, Refusal, Service};

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
        let backlog = outbox::backlog(self.store.pool()).await?;
        Ok(Backlog {
            pending_count: backlog.pending,
            oldest_age_seconds: Duration::try_from_secs_f64(backlog.oldest_age_seconds)
                .ok()
                .and_then(|age| i64::try_from(age.as_secs()).ok())
                .unwrap_or(i64::MAX),
        })
    }

    /// Has a blocked stream tried again at once.
    ///
    /// # Errors
    /// [`Error::Refused`] (`stream_not_blocked`), or a fault of the store.
    pub async fn retry_outbox(&self, caller: &Caller, stream: &str) -> Result<(), Error> {
        let mut rows = SideRows::begin(self.store.pool()).await?;
        if outbox::retry_in(rows.conn(), Some(stream)).await? == 0 {
            return Err(Refusal::new(404, "stream_not_blocked", "the stream is not blocked").into());
        }
        let target = Target {
            kind: "outbox_stream",
            id: stream,
        };
        let record = caller.audit(
            "admin.outbox.retried",
            Category::System,
            target,
            json!({}),
            self.clock.now(),
        );
        audit::record_in(rows.conn(), record).await?;
        Ok(rows.commit().await?)
    }
}
