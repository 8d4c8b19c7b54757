//! What can go wrong between a use case and the database, with what the caller may do about it.

use std::error::Error as StdError;

use sqlx::error::DatabaseError;

/// The stream moved under the writer.
const STREAM_KEY: &str = "events_stream_key";
/// A twin of the request was answered meanwhile: it took the key, or the append refuses to answer twice (see `append`).
const ANSWER_KEY: &str = "idempotency_keys_pkey";
const ANSWER_ONCE: &str = "idempotency_keys_status_range";

/// A failure of the store.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// Somebody else wrote first: the stream moved, the key was answered, or a lock cycle was broken. Nothing was written.
    /// Rerun the use case from its start, with the same ids.
    #[error("somebody else wrote first")]
    Conflict,
    /// The database cannot be reached or did not answer in time. Nothing was written.
    #[error("the database is not available")]
    Unavailable(#[source] sqlx::Error),
    /// The connection was lost at commit: it may or may not have happened. Rerun with the same ids; the key is looked up first.
    #[error("the connection was lost at commit")]
    CommitUnknown(#[source] sqlx::Error),
    /// What is stored cannot be read as what it claims to be.
    #[error("{place} cannot be read")]
    Corrupt {
        /// `<type>/<id>@<sequence>`, or the name of a row.
        place: String,
        /// Why.
        #[source]
        reason: Box<dyn StdError + Send + Sync>,
    },
    /// A rule of the schema refused the write. The name is API.
    #[error("refused by {name}")]
    Constraint {
        /// The constraint.
        name: String,
    },
    /// The text holds U+0000, which the database cannot keep.
    #[error("text with U+0000 cannot be stored")]
    Unstorable,
    /// A stream was used that the unit of work did not load: a mistake of the use case.
    #[error("stream {stream} was not loaded")]
    NotLoaded {
        /// `<type>/<id>`
        stream: String,
    },
    /// The schema is not what this version needs. The text names the fix.
    #[error("{0}")]
    Migration(String),
    /// Anything else the database said.
    #[error("the database refused a statement")]
    Database(#[source] sqlx::Error),
}

impl StoreError {
    /// Stable machine value.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Conflict => "conflict",
            Self::Unavailable(_) => "database_unavailable",
            Self::CommitUnknown(_) => "commit_unknown",
            Self::Corrupt { .. } => "stored_data_corrupt",
            Self::Constraint { .. } => "constraint_violated",
            Self::Unstorable => "unstorable_text",
            Self::NotLoaded { .. } => "stream_not_loaded",
            Self::Migration(_) => "schema_mismatch",
            Self::Database(_) => "database_error",
        }
    }

    /// True where rerunning the whole use case, with the same ids, is the right answer.
    pub const fn is_rerunnable(&self) -> bool {
        matches!(self, Self::Conflict | Self::CommitUnknown(_))
    }

    /// An error of the statement that commits: a lost connection leaves the outcome open.
    pub(crate) fn at_commit(error: sqlx::Error) -> Self {
        match Self::from(error) {
            Self::Unavailable(cause) if is_lost(&cause) => Self::CommitUnknown(cause),
            other => other,
        }
    }

    pub(crate) fn corrupt(place: impl Into<String>, reason: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self::Corrupt {
            place: place.into(),
            reason: reason.into(),
        }
    }
}

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        match &error {
            sqlx::Error::Database(refusal) => match classify(refusal.as_ref()) {
                Refusal::Conflict => Self::Conflict,
                Refusal::Constraint(name) => Self::Constraint { name },
                Refusal::Unstorable => Self::Unstorable,
                Refusal::Unavailable => Self::Unavailable(error),
                Refusal::Other => Self::Database(error),
            },
            sqlx::Error::Io(_)
            | sqlx::Error::Tls(_)
            | sqlx::Error::Protocol(_)
            | sqlx::Error::PoolTimedOut
            | sqlx::Error::PoolClosed
            | sqlx::Error::WorkerCrashed
            | sqlx::Error::BeginFailed => Self::Unavailable(error),
            _ => Self::Database(error),
        }
    }
}

enum Refusal {
    Conflict,
    Constraint(String),
    Unstorable,
    Unavailable,
    Other,
}

fn classify(refusal: &(dyn DatabaseError + 'static)) -> Refusal {
    match (refusal.constraint(), refusal.code().as_deref()) {
        // by name; or a deadlock, a serialisation failure
        (Some(STREAM_KEY | ANSWER_KEY | ANSWER_ONCE), _) | (None, Some("40P01" | "40001")) => Refusal::Conflict,
        (Some(name), _) => Refusal::Constraint(name.to_owned()),
        // untranslatable character: only U+0000 gets this far
        (None, Some("22P05" | "22021")) => Refusal::Unstorable,
        // statement or lock timeout, and everything that ends or refuses a session
        (None, Some(code)) if matches!(code, "57014" | "55P03") || ends_session(code) => Refusal::Unavailable,
        (None, _) => Refusal::Other,
    }
}

/// Connection exceptions, shutdowns, no free slot, idle-in-transaction timeout.
fn ends_session(code: &str) -> bool {
    code.starts_with("08") || code.starts_with("57P") || matches!(code, "53300" | "25P03")
}

/// True where the server may have done what was asked although no answer came.
pub(crate) fn is_lost(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Database(refusal) => refusal.code().as_deref().is_some_and(ends_session),
        sqlx::Error::Io(_) | sqlx::Error::Tls(_) | sqlx::Error::Protocol(_) | sqlx::Error::WorkerCrashed => true,
        _ => false,
    }
}
