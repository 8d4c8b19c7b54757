//! Why an entitlement refuses a command.

use crate::aggregate::Rejection;

/// A refused command. The code is API.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    #[error("the entitlement does not exist")]
    NotFound,
    #[error("the entitlement was granted to another order, customer or subscription")]
    AlreadyGranted,
    #[error("the terms are not valid")]
    InvalidTerms,
    #[error("the end of the period lies beyond the calendar")]
    EndOutOfRange,
    #[error("the operation does not belong to this entitlement")]
    UnknownOperation,
    #[error("the operation exists with other content")]
    OperationConflict,
    #[error("the operation has ended")]
    OperationEnded,
    #[error("only a failed operation can be retried")]
    NotRetryable,
    #[error("a succeeded operation cannot be withdrawn")]
    NotCancellable,
    #[error("the version was never desired")]
    UnknownVersion,
}

impl Rejection for Error {
    fn code(&self) -> &'static str {
        match self {
            Self::NotFound => "entitlement_not_found",
            Self::AlreadyGranted => "entitlement_conflict",
            Self::InvalidTerms | Self::EndOutOfRange => "invalid_terms",
            Self::UnknownOperation => "operation_not_found",
            Self::OperationConflict => "fulfillment_operation_rejected",
            Self::OperationEnded | Self::NotRetryable | Self::NotCancellable => "state_conflict",
            Self::UnknownVersion => "unknown_version",
        }
    }
}
