//! Why an entitlement refuses a command.

use crate::aggregate::Rejection;

/// A refused command. The code is API.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No event yet.
    #[error("the entitlement does not exist")]
    NotFound,
    /// Granted, but not by this request.
    #[error("the entitlement was granted to another order, customer or subscription")]
    AlreadyGranted,
    /// A period, grace or limit out of range.
    #[error("the terms are not valid")]
    InvalidTerms,
    /// Beyond the calendar that storage and the panel share.
    #[error("the end of the period lies beyond the calendar")]
    EndOutOfRange,
    /// No operation of this id was opened here.
    #[error("the operation does not belong to this entitlement")]
    UnknownOperation,
    /// Its id is taken.
    #[error("the operation exists with other content")]
    OperationConflict,
    /// Its version is not shown yet.
    #[error("the operation's version is not applied yet")]
    NotSuperseded,
    /// A push that did not reach what the operation is for.
    #[error("the version shown is older than the operation's")]
    VersionBehind,
    /// Succeeded, cancelled, or a second reconcile beside an open one.
    #[error("only a failed operation can be retried")]
    NotRetryable,
    /// Its effect is on the panel.
    #[error("a succeeded operation cannot be withdrawn")]
    NotCancellable,
    /// An end that would not give any time.
    #[error("the new end is not later than the present one")]
    EndNotLater,
    /// A pause of what is paused, shut, over or not begun; a resumption of what is not paused.
    #[error("the entitlement is not in a state that can be paused or resumed")]
    NotPausable,
    /// What would have to be opened is paused.
    #[error("the entitlement is paused: resume it")]
    Paused,
    /// A pause counts from the moment it is asked.
    #[error("this change cannot be planned for that moment")]
    NotPlannable,
    /// Bounded, because every decision reads all of them.
    #[error("too many changes are planned")]
    TooManyPlanned,
    /// Below 1 or above the desired version.
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
            Self::OperationConflict | Self::EndNotLater | Self::NotPlannable | Self::TooManyPlanned => {
                "fulfillment_operation_rejected"
            }
            Self::NotSuperseded
            | Self::VersionBehind
            | Self::NotRetryable
            | Self::NotCancellable
            | Self::NotPausable
            | Self::Paused => "state_conflict",
            Self::UnknownVersion => "unknown_version",
        }
    }
}
