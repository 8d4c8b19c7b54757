//! What can go wrong with a private server, each with a stable code and, where there is one, the way out.

use std::io;
use std::path::{Path, PathBuf};

/// A private server could not be found, made, started, proved or stopped.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClusterError {
    /// No usable PostgreSQL server programs on this machine.
    #[error("{0}")]
    NoServer(String),
    /// The data directory was made by a major version of which no programs are here.
    #[error(
        "{} was made by PostgreSQL {made_by}, but the programs found here are {found}; \
         set APP_PG_BIN to the bin directory of PostgreSQL {made_by}",
        directory.display()
    )]
    WrongMajor {
        /// Where the files are.
        directory: PathBuf,
        /// Major version that made them.
        made_by: u32,
        /// What was found instead, as text.
        found: String,
    },
    /// We are root, and no account fits to run the server as.
    #[error(
        "PostgreSQL refuses to run as root and neither `postgres` nor `nobody` can be used here ({0}); \
         start as an ordinary user or create an account named postgres"
    )]
    NoAccount(String),
    /// No directory in which the server's account could keep its files.
    #[error("no directory is open to the account that runs PostgreSQL: {0}")]
    NoPlace(String),
    /// Another process of ours runs on this data directory.
    #[error("another omniflow process already runs the database in {}", .0.display())]
    InUse(PathBuf),
    /// There is no running server to attach to.
    #[error("no database server runs in {}", .0.display())]
    NotRunning(PathBuf),
    /// Something alive claims the data directory, and we could not prove what it is.
    #[error(
        "process {pid} seems to use {} but could not be identified ({why}); it was left alone: stop it, then start again",
        directory.display()
    )]
    Unproven {
        /// The process that the pid file names.
        pid: i32,
        /// The data directory in question.
        directory: PathBuf,
        /// Why the proof failed.
        why: String,
    },
    /// `initdb` failed.
    #[error("a database cluster could not be made: {0}")]
    Initialise(String),
    /// The server ended or did not answer in time.
    #[error("PostgreSQL did not start: {0}")]
    Start(String),
    /// The server did not end in time.
    #[error("PostgreSQL (process {0}) did not stop in time")]
    Stop(i32),
    /// A statement of ours was refused.
    #[error("the private database refused a statement: {0}")]
    Database(#[from] sqlx::Error),
    /// A file could not be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// Which file or directory.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
}

impl ClusterError {
    /// A stable name for logs and answers.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoServer(_) => "cluster_no_server",
            Self::WrongMajor { .. } => "cluster_wrong_major",
            Self::NoAccount(_) => "cluster_no_account",
            Self::NoPlace(_) => "cluster_no_place",
            Self::InUse(_) => "cluster_in_use",
            Self::NotRunning(_) => "cluster_not_running",
            Self::Unproven { .. } => "cluster_unproven",
            Self::Initialise(_) => "cluster_initialise",
            Self::Start(_) => "cluster_start",
            Self::Stop(_) => "cluster_stop",
            Self::Database(_) => "cluster_database",
            Self::File { .. } => "cluster_file",
        }
    }
}

/// Names the file in the error.
pub(crate) trait At<T> {
    fn at(self, path: &Path) -> Result<T, ClusterError>;
}

impl<T> At<T> for io::Result<T> {
    fn at(self, path: &Path) -> Result<T, ClusterError> {
        self.map_err(|source| ClusterError::File {
            path: path.to_owned(),
            source,
        })
    }
}
