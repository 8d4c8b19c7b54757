//! How often, and how far apart, goods are submitted and asked for.

use std::time::Duration;

/// Submissions in all. The last retryable failure ends the delivery.
pub const MAX_SUBMISSIONS: i32 = 6;

/// Until an accepted submission is asked for again, in seconds.
pub const POLL_SECONDS: i64 = 60;

/// Code of a submission whose outcome nobody recorded before its deadline.
pub const ABANDONED: &str = "submission_abandoned";

/// Pause before submission `attempt`: a minute before the first, doubling, at most an hour. Total for any number.
pub fn backoff(attempt: i32) -> Duration {
    let doublings = u32::try_from(attempt.saturating_sub(1)).unwrap_or(0).min(6);
    let minutes = 1_u64.checked_shl(doublings).unwrap_or(60).min(60);
    Duration::from_secs(minutes.saturating_mul(60))
}
