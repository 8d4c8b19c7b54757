//! Why a delivery refuses a command.

use crate::aggregate::Rejection;

/// A refused command. The code is API.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    #[error("the delivery does not exist")]
    NotFound,
    #[error("the order is owed other goods")]
    AlreadyOwed,
    #[error("the delivery is not waiting for a submission")]
    NotSubmittable,
    #[error("all submissions are used up")]
    AttemptsExhausted,
    #[error("the outcome belongs to another submission")]
    StaleAttempt,
    #[error("only a parked delivery can be resolved")]
    NotParked,
    #[error("the delivery can no longer be cancelled")]
    NotCancellable,
    #[error("the delivery has no reference to poll")]
    NotPolled,
}

impl Rejection for Error {
    fn code(&self) -> &'static str {
        match self {
            Self::NotFound => "delivery_not_found",
            Self::AlreadyOwed => "delivery_conflict",
            Self::AttemptsExhausted => "attempts_exhausted",
            Self::NotSubmittable | Self::StaleAttempt | Self::NotParked | Self::NotCancellable | Self::NotPolled => {
                "state_conflict"
            }
        }
    }
}
