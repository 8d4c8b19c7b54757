//! Points in time and spans. Nothing here reads a clock: time comes in with the command.

use chrono::{DateTime, SubsecRound as _, TimeDelta, Utc};

/// A point in time, UTC. PostgreSQL keeps microseconds, so a [`Timestamp`] that goes into an event is cut to them first.
pub type Timestamp = DateTime<Utc>;

/// Cuts to the precision that storage keeps, so that a value read back equals the value written.
pub fn to_stored_precision(at: Timestamp) -> Timestamp {
    at.trunc_subsecs(6)
}

/// `at` moved by whole seconds; `None` beyond the calendar's range.
pub fn plus_seconds(at: Timestamp, seconds: i64) -> Option<Timestamp> {
    at.checked_add_signed(TimeDelta::try_seconds(seconds)?)
}
