//! What a failed run leads to. One schedule serves the stored due time and the job's real delay.

use std::time::Duration;

/// Failures of one operation after which it has failed for good.
pub const MAX_FAILURES: i32 = 12;

/// Failures from which on operators are told.
pub const NOTICE_AT: i32 = 3;

/// How a failed call counts against its operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureClass {
    /// The same request will fail again.
    Permanent,
    /// A later try may succeed, with or without an operator's help; also a request whose answer never came.
    Passing,
    /// The panel asks us to slow down. Costs no attempt.
    RateLimited {
        /// How long it asks for.
        retry_after: Option<Duration>,
    },
}

/// What follows a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Another run.
    Retry {
        /// Not before this has passed.
        delay: Duration,
        /// The failure counts; otherwise the attempt is given back.
        counted: bool,
        /// Operators are told now.
        notice: bool,
    },
    /// None: the operation has failed for good, and operators are told.
    GiveUp,
}

/// What follows failure number `failures` of an operation, this one included.
pub fn after_failure(class: FailureClass, failures: i32) -> Next {
    match class {
        FailureClass::Permanent => Next::GiveUp,
        FailureClass::RateLimited { retry_after } => {
            let longest = retry_delay(MAX_FAILURES);
            let delay = retry_after.unwrap_or_default().max(retry_delay(1)).min(longest);
            Next::Retry {
                delay,
                counted: false,
                notice: false,
            }
        }
        FailureClass::Passing if failures >= MAX_FAILURES => Next::GiveUp,
        FailureClass::Passing => Next::Retry {
            delay: retry_delay(failures),
            counted: true,
            notice: failures >= NOTICE_AT,
        },
    }
}

/// Pause after failure `attempt`: 5 s × 2^min(attempt, 8), so 10 s after the first and at most 1280 s. Total for any number.
pub fn retry_delay(attempt: i32) -> Duration {
    let doublings = u32::try_from(attempt).unwrap_or(0).min(8);
    Duration::from_secs(5_u64.saturating_mul(1_u64.checked_shl(doublings).unwrap_or(1)))
}
