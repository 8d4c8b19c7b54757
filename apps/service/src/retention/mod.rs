//! Removing disposable rows: one sweep over every step of the store's table.

pub mod attachments;

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use domain::time::Timestamp;
use serde::Serialize;
use store::{
    StoreError,
    retention::{self, Keep, STEPS, Step, Swept, TimeOf},
};

use crate::Service;

/// One step may work for so long; what is left then goes with the next sweep.
const STEP_LIMIT: Duration = Duration::from_mins(5);

/// What a sweep did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RetentionReport {
    /// Rows removed, of all tables.
    pub removed: u64,
    /// Steps that failed, wholly or after some batches.
    pub failed: u64,
    /// Steps whose time was up before everything was removed.
    pub unfinished: u64,
    /// The longest batch, milliseconds.
    pub longest_batch_ms: u64,
    /// Rows removed, by table; tables that had nothing to remove are left out.
    pub tables: BTreeMap<&'static str, u64>,
}

impl Service {
    /// Runs every step in order. A step that fails is logged and skipped, so that one locked table cannot hold up the others.
    ///
    /// # Errors
    /// Only when the database's time cannot be read.
    pub async fn sweep_retention(&self, keep: &Keep) -> Result<RetentionReport, StoreError> {
        let database = retention::now(self.store.pool()).await?;
        let domain = self.clock.now();
        let mut report = RetentionReport::default();
        for step in STEPS {
            let now = match step.time {
                TimeOf::Database => database,
                TimeOf::Domain => domain,
            };
            let cut = before(now, (step.kept)(keep));
            let (swept, outcome) = retention::sweep(self.store.pool(), step, cut, Instant::now() + STEP_LIMIT).await;
            report.add(step, swept);
            if let Err(error) = outcome {
                report.failed = report.failed.saturating_add(1);
                tracing::warn!(table = step.table, code = error.code(), "retention sweep step failed");
            }
        }
        Ok(report)
    }
}

impl RetentionReport {
    fn add(&mut self, step: &Step, swept: Swept) {
        let longest = u64::try_from(swept.longest.as_millis()).unwrap_or(u64::MAX);
        self.longest_batch_ms = self.longest_batch_ms.max(longest);
        self.unfinished = self.unfinished.saturating_add(u64::from(swept.unfinished));
        if swept.rows > 0 {
            tracing::info!(table = step.table, rows = swept.rows, "retention sweep removed rows");
            self.removed = self.removed.saturating_add(swept.rows);
            self.tables.insert(step.table, swept.rows);
        }
    }
}

/// Total for any span: what is kept longer than the calendar goes back is kept for ever.
fn before(now: Timestamp, kept: Duration) -> Timestamp {
    chrono::TimeDelta::from_std(kept)
        .ok()
        .and_then(|kept| now.checked_sub_signed(kept))
        .unwrap_or(Timestamp::UNIX_EPOCH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_number_of_days_has_a_cut() {
        let now: Timestamp = "2026-03-01T12:00:00Z".parse().unwrap();
        assert_eq!(before(now, Duration::ZERO), now);
        assert_eq!(before(now, Duration::MAX), Timestamp::UNIX_EPOCH);
    }
}
