//! Why a delivery refuses a command.

use crate::aggregate::Rejection;

/// A refused command. The code is API.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No event yet.
    #[error("the delivery does not exist")]
    NotFound,
    /// Owed already, with other content.
    #[error("the order is owed other goods")]
    AlreadyOwed,
    /// A submission is open, the provider has it, or it has ended.
    #[error("the delivery is not waiting for a submission")]
    NotSubmittable,
    /// Six submissions were started.
    #[error("all submissions are used up")]
    AttemptsExhausted,
    /// No submission of that number was started.
    #[error("the outcome belongs to another submission")]
    StaleAttempt,
    /// Its worker may still be waiting for the answer.
    #[error("the submission is within its deadline")]
    SubmissionOpen,
    /// Nobody pays less than nothing.
    #[error("the price is negative")]
    InvalidPrice,
    /// Not in review, or resolved otherwise.
    #[error("only a parked delivery can be resolved")]
    NotParked,
    /// Something may have been bought, or it has ended.
    #[error("the delivery can no longer be cancelled")]
    NotCancellable,
    /// No provider has taken it yet.
    #[error("the delivery has no reference to poll")]
    NotPolled,
}

impl Rejection for Error {
    fn code(&self) -> &'static str {
        match self {
            Self::NotFound => "delivery_not_found",
            Self::AlreadyOwed => "delivery_conflict",
            Self::AttemptsExhausted => "attempts_exhausted",
            Self::InvalidPrice => "invalid_price",
            Self::NotSubmittable
            | Self::SubmissionOpen
            | Self::StaleAttempt
            | Self::NotParked
            | Self::NotCancellable
            | Self::NotPolled => "state_conflict",
        }
    }
}
