//! Why a projection, a rebuild or a verification does not go on.

use store::{StoreError, event_reader::UnreadableEvent, high_water::FenceError};

/// The event that stops a projection. Nothing after it is applied, nothing is skipped.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("event at position {position} stops the projection: {detail} ({code})")]
pub struct Stop {
    /// Place of the event in the log.
    pub position: i64,
    /// Stable machine value.
    pub code: &'static str,
    /// What is wrong; no payload.
    pub detail: String,
}

impl From<&UnreadableEvent> for Stop {
    fn from(event: &UnreadableEvent) -> Self {
        Self {
            position: event.position,
            code: "event_unreadable",
            detail: event.to_string(),
        }
    }
}

/// A failure of work on a read model.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProjectionError {
    /// An event cannot be projected.
    #[error(transparent)]
    Stopped(#[from] Stop),
    /// There is no projection of that name.
    #[error("there is no projection `{0}`; there are: orders, entitlements, operations_view, deliveries")]
    UnknownName(String),
    /// Somebody else rebuilds or verifies the same read model.
    #[error("another rebuild or verification of `{0}` is running")]
    Busy(&'static str),
    /// The connection broke half-way; what was done so far is kept and the next call goes on from there.
    #[error("interrupted at position {position}; run it again to go on from there")]
    Interrupted {
        /// How far it came.
        position: i64,
        /// Why.
        #[source]
        source: StoreError,
    },
    /// The tables could not be exchanged: readers or the live projection never let go for long enough.
    #[error("rebuilt up to position {position}, but the tables could not be exchanged; run it again to try again")]
    NotExchanged {
        /// How far it came.
        position: i64,
    },
    /// It took longer than a snapshot may be held.
    #[error("verification took longer than {limit_seconds} seconds")]
    TooLong {
        /// The limit.
        limit_seconds: u64,
    },
    /// The log's end could not be established.
    #[error(transparent)]
    Fence(#[from] FenceError),
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<sqlx::Error> for ProjectionError {
    fn from(error: sqlx::Error) -> Self {
        Self::Store(error.into())
    }
}

impl ProjectionError {
    /// Stable machine value.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Stopped(stop) => stop.code,
            Self::UnknownName(_) => "projection_unknown",
            Self::Busy(_) => "projection_busy",
            Self::Interrupted { .. } => "projection_interrupted",
            Self::NotExchanged { .. } => "projection_not_exchanged",
            Self::TooLong { .. } => "projection_verify_timeout",
            Self::Fence(error) => error.code(),
            Self::Store(error) => error.code(),
        }
    }
}

/// What the server said, where it said something.
pub(crate) fn sqlstate(error: &StoreError) -> Option<String> {
    use std::error::Error as _;
    let cause = error.source()?.downcast_ref::<sqlx::Error>()?;
    Some(cause.as_database_error()?.code()?.into_owned())
}
