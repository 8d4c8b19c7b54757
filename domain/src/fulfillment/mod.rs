//! Policies of a fulfillment run that need neither clock nor storage: when to try again, when to tell operators, when to give up.

use std::time::Duration;

/// Failures of one operation after which it has failed for good.
pub const MAX_FAILURES: i32 = 12;

/// Failures from which on operators are told.
pub const NOTICE_AT: i32 = 3;

/// Pause after failure `attempt`: 5 s × 2^min(attempt, 8), so 10 s after the first and at most 1280 s. Total for any number.
pub fn retry_delay(attempt: i32) -> Duration {
    let doublings = u32::try_from(attempt).unwrap_or(0).min(8);
    Duration::from_secs(5_u64.saturating_mul(1_u64.checked_shl(doublings).unwrap_or(1)))
}
