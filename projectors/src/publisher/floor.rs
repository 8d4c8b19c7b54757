//! From where polls start, so that they do not walk over everything that was published already.
//!
//! Ids, too, are handed out before commit: a smaller one may appear after a larger one was handed over, and a poll above it would then take a later
//! row of the same stream first. So the floor follows behind, by the same rule as the log's fence: an id is the floor only when everything that
//! could hold a smaller one has ended, and a poll has been through what was left below it.

use std::time::{Duration, Instant};

use sqlx::PgConnection;
use store::high_water::{Horizon, draw_xid, oldest_running};

/// Least time between two marks: each costs a transaction id.
const MARK: Duration = Duration::from_millis(50);

#[derive(Debug, Default)]
pub(super) struct Floor {
    /// Polls start above it.
    id: i64,
    /// Highest id handed over.
    highest: i64,
    horizon: Horizon,
    /// Settled, but not yet polled over.
    settled: i64,
    marked_at: Option<Instant>,
}

impl Floor {
    pub(super) const fn get(&self) -> i64 {
        self.id
    }

    /// Rows up to `id` were seen.
    pub(super) fn saw(&mut self, id: i64) {
        self.highest = self.highest.max(id);
    }

    /// Before a poll: moves the mark on. Answers up to where ids are settled now.
    pub(super) async fn advance(&mut self, connection: &mut PgConnection) -> Result<i64, sqlx::Error> {
        if !self.horizon.is_empty() {
            let xmin = oldest_running(connection).await?;
            if let Some((id, _)) = self.horizon.pass(xmin) {
                self.settled = self.settled.max(id);
            }
        }
        let due = self.marked_at.is_none_or(|at| at.elapsed() >= MARK);
        if due && self.horizon.is_news(self.highest) {
            let xid = draw_xid(connection).await?;
            self.horizon.note(self.highest, xid);
            self.marked_at = Some(Instant::now());
        }
        Ok(self.settled)
    }

    /// After a poll from the floor that went through everything up to `through`, begun when ids were settled up to `settled`.
    pub(super) fn polled(&mut self, settled: i64, through: i64) {
        self.id = self.id.max(settled.min(through));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_floor_never_passes_what_a_poll_has_not_been_through() {
        let mut floor = Floor::default();
        floor.polled(100, 40);
        assert_eq!(floor.get(), 40);
        floor.polled(100, i64::MAX);
        assert_eq!(floor.get(), 100);
        floor.polled(30, i64::MAX);
        assert_eq!(floor.get(), 100);
    }
}
