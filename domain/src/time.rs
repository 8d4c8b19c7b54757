//! Points in time and spans. Nothing here reads a clock: time comes in with the command.

use std::time::Duration;

use chrono::{DateTime, Datelike as _, SubsecRound as _, TimeDelta, Utc};

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

/// Storage, RFC 3339 and every system we talk to agree on years from 1 to 9999 only.
pub fn within_calendar(at: Timestamp) -> bool {
    (1..=9999).contains(&at.year())
}

/// `at` moved by a pause; `at` itself when that leaves the calendar, so that nothing waits for ever.
pub fn plus(at: Timestamp, pause: Duration) -> Timestamp {
    TimeDelta::from_std(pause)
        .ok()
        .and_then(|delta| at.checked_add_signed(delta))
        .unwrap_or(at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::at;

    #[test]
    fn stored_precision_cuts_and_never_rounds_up() {
        let fine = at(0) + TimeDelta::nanoseconds(1_999);
        assert_eq!(to_stored_precision(fine), at(0) + TimeDelta::microseconds(1));
        assert_eq!(
            to_stored_precision(to_stored_precision(fine)),
            to_stored_precision(fine)
        );
    }

    #[test]
    fn arithmetic_ends_at_the_calendar() {
        assert_eq!(plus_seconds(at(0), 60), Some(at(60)));
        assert_eq!(plus_seconds(at(60), -60), Some(at(0)));
        for seconds in [i64::MAX, i64::MIN, i64::MAX / 1000] {
            assert_eq!(plus_seconds(at(0), seconds), None);
        }
        assert_eq!(plus(at(0), Duration::from_mins(1)), at(60));
        assert_eq!(plus(at(0), Duration::MAX), at(0));
        assert!(within_calendar(at(0)));
        assert!(!within_calendar(Timestamp::MAX_UTC));
    }
}
