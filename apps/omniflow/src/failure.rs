//! Why a command could not do its work, and with which exit code it says so.

use std::process::ExitCode;

/// A command that ends without having done its work.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// Settings or arguments cannot be used.
    #[error("{0}")]
    Usage(String),
    /// Something it needs is not there: server, migration, simulator, address in use.
    #[error("{0}")]
    Unavailable(String),
    /// The answer is no.
    #[error("{0}")]
    No(String),
}

impl Failure {
    /// Prints the reason and gives the exit code.
    pub fn report(&self) -> ExitCode {
        eprintln!("omniflow: {self}");
        ExitCode::from(match self {
            Self::No(_) => 1,
            Self::Usage(_) => 2,
            Self::Unavailable(_) => 3,
        })
    }

    /// What is needed is not there.
    pub fn unavailable(what: impl std::fmt::Display) -> Self {
        Self::Unavailable(what.to_string())
    }
}

impl From<crate::config::Invalid> for Failure {
    fn from(error: crate::config::Invalid) -> Self {
        Self::Usage(error.to_string())
    }
}

impl From<crate::config::Problem> for Failure {
    fn from(error: crate::config::Problem) -> Self {
        Self::Usage(error.to_string())
    }
}

impl From<store::StoreError> for Failure {
    fn from(error: store::StoreError) -> Self {
        Self::unavailable(error)
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::unavailable(error)
    }
}

impl From<sqlx::Error> for Failure {
    fn from(error: sqlx::Error) -> Self {
        Self::unavailable(store::StoreError::from(error))
    }
}

impl From<crate::driver::ShopError> for Failure {
    fn from(error: crate::driver::ShopError) -> Self {
        Self::unavailable(error)
    }
}
