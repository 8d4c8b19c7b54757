//! What can go wrong with the queue.

use crate::JobState;

/// A failed request to the queue. `code` is API.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum QueueError {
    /// The database did not answer, or refused the statement.
    #[error("the queue's tables cannot be reached")]
    Unavailable(#[source] sqlx::Error),
    /// No job has this id.
    #[error("there is no such job")]
    NotFound,
    /// The job's state forbids the change.
    #[error("a job that is {state} cannot be changed this way")]
    Rejected {
        /// The state that was found.
        state: JobState,
    },
    /// Another live job has the same arguments, where a new run was expected.
    #[error("a job with the same arguments is still live")]
    StillLive,
    /// Arguments that cannot be written, or a row that cannot be read.
    #[error("the job's arguments or metadata cannot be encoded")]
    Encoding(#[source] serde_json::Error),
    /// The client's settings contradict each other, or River refused them.
    #[error("the queue's client cannot be built: {0}")]
    Configuration(String),
    /// River's runtime failed.
    #[error("the queue's client failed")]
    Client(#[source] Box<riverqueue::Error>),
}

impl QueueError {
    /// Stable machine value.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Unavailable(_) | Self::Client(_) => "jobs_unavailable",
            Self::NotFound => "job_not_found",
            Self::Rejected { .. } => "job_mutation_rejected",
            Self::StillLive => "job_still_running",
            Self::Encoding(_) => "invalid_job",
            Self::Configuration(_) => "invalid_configuration",
        }
    }
}

impl From<sqlx::Error> for QueueError {
    fn from(error: sqlx::Error) -> Self {
        Self::Unavailable(error)
    }
}

impl From<riverqueue::Error> for QueueError {
    fn from(error: riverqueue::Error) -> Self {
        match error {
            riverqueue::Error::Database(error) => Self::Unavailable(error),
            riverqueue::Error::Configuration(error) => Self::Configuration(error.to_string()),
            error => Self::Client(Box::new(error)),
        }
    }
}

impl From<serde_json::Error> for QueueError {
    fn from(error: serde_json::Error) -> Self {
        Self::Encoding(error)
    }
}
