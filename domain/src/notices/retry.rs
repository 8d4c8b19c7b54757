//! When a notice that did not get through is tried again, and how long the whole group is left alone.

use std::time::Duration;

/// Requests that may fail for one notice; after the last it has failed until a person retries it. With [`retry_delay`] that is two hours.
pub const MAX_ATTEMPTS: i32 = 12;

/// Longest pause between two tries of one notice.
const LONGEST_DELAY: Duration = Duration::from_mins(30);
/// Longest pause of the whole group.
const LONGEST_PAUSE: Duration = Duration::from_mins(10);

/// Pause after failure `attempt` of one notice: 10 s, 20 s, 40 s … 30 min. Total for any number.
pub fn retry_delay(attempt: i32) -> Duration {
    doubled(attempt, LONGEST_DELAY)
}

/// How long nothing at all is sent after `pauses` failures in a row that were not one notice's own: 10 s … 10 min. Total for any number.
pub fn pause(pauses: i32) -> Duration {
    doubled(pauses, LONGEST_PAUSE)
}

fn doubled(count: i32, longest: Duration) -> Duration {
    let doublings = u32::try_from(count).unwrap_or(0).saturating_sub(1).min(20);
    let seconds = 10_u64.saturating_mul(1_u64.checked_shl(doublings).unwrap_or(1));
    Duration::from_secs(seconds).min(longest)
}
