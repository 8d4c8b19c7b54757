//! What a use case answers when it does not do what was asked.

use std::borrow::Cow;

use domain::aggregate::Rejection;
use ports::payments::ProviderError;
use queue::QueueError;
use serde::{Deserialize, Serialize};
use store::{ExecuteError, StoreError};

/// A refusal: the request was understood and turned down. It is an answer, not a fault, and is stored as one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{detail} ({code})")]
pub struct Refusal {
    /// Stable machine value, as in problem documents.
    pub code: Cow<'static, str>,
    /// Status of an HTTP answer that says so.
    pub status: u16,
    /// Prose for a person; may change.
    pub detail: Cow<'static, str>,
}

impl Refusal {
    /// A refusal with fixed words.
    pub const fn new(status: u16, code: &'static str, detail: &'static str) -> Self {
        Self {
            code: Cow::Borrowed(code),
            status,
            detail: Cow::Borrowed(detail),
        }
    }

    /// What an aggregate turned down, under its own code.
    pub fn of(status: u16, rejection: &impl Rejection) -> Self {
        Self::named(status, rejection.code(), rejection)
    }

    /// What an aggregate turned down, under the code of the surface that asked.
    pub fn named(status: u16, code: &'static str, rejection: &impl Rejection) -> Self {
        Self {
            code: Cow::Borrowed(code),
            status,
            detail: Cow::Owned(rejection.to_string()),
        }
    }
}

/// How loud a failure is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// A caller's mistake or a rule that held.
    Info,
    /// Something outside does not work as it should; trying later may help.
    Warn,
    /// A fault of ours.
    Error,
}

/// Why a use case did not do what was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Understood and turned down.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The key was used for a request with another content.
    #[error("the idempotency key was used for another request")]
    KeyReused,
    /// The same request is being carried out by somebody else right now.
    #[error("the same request is in progress")]
    InProgress,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The queue failed.
    #[error(transparent)]
    Queue(#[from] QueueError),
    /// What was read contradicts itself: a fault of ours, or rows edited by hand.
    #[error("inconsistent: {0}")]
    Inconsistent(&'static str),
    /// A payment provider did not do what it was asked.
    #[error(transparent)]
    Provider(#[from] ProviderError),
}

impl Error {
    /// Stable machine value, as in problem documents.
    pub fn code(&self) -> &str {
        match self {
            Self::Refused(refusal) => &refusal.code,
            Self::KeyReused => "idempotency_key_reused",
            Self::InProgress => "request_in_progress",
            Self::Store(error) => error.code(),
            Self::Queue(error) => error.code(),
            Self::Inconsistent(_) => "inconsistent",
            Self::Provider(_) => "upstream_unavailable",
        }
    }

    /// How loud it is.
    pub fn severity(&self) -> Severity {
        match self {
            Self::Refused(_) | Self::KeyReused | Self::InProgress => Severity::Info,
            Self::Provider(_) | Self::Store(StoreError::Conflict | StoreError::Unavailable(_)) => Severity::Warn,
            Self::Store(_) | Self::Queue(_) | Self::Inconsistent(_) => Severity::Error,
        }
    }

    /// Running the use case again with the same ids may succeed: somebody else wrote first, or nobody knows whether we did.
    pub fn is_conflict(&self) -> bool {
        matches!(self, Self::Store(error) if error.is_rerunnable())
    }

    /// A command that another aggregate's decision called for and that was refused: the refusal becomes that of the use case.
    pub(crate) fn executing<E: Rejection>(error: ExecuteError<E>) -> Self {
        match error {
            ExecuteError::Rejected(rejection) => Refusal::of(422, &rejection).into(),
            ExecuteError::Store(error) => error.into(),
        }
    }
}
