//! A server that outlives the command that started it: `db up`, `db status`, `db down`.

use crate::cluster::Cluster;
use crate::error::ClusterError;
use crate::options::Options;
use crate::place::Place;
use crate::proof::{self, Found};
use crate::state_file::State;
use crate::{initialise, starting, stop};
use std::path::{Path, PathBuf};

/// What is known about the server of an installation.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Status {
    /// No cluster was ever made here.
    Absent,
    /// There is one, and it does not run.
    Stopped {
        /// Where its files are.
        directory: PathBuf,
    },
    /// It runs, proved by a connection.
    Running {
        /// Where its files are.
        directory: PathBuf,
        /// Process number of the server.
        pid: i32,
        /// Whether it was started to outlive its command.
        standing: bool,
    },
}

/// Starts the server, or lets the running one stand from now on; it goes on when the answer is dropped.
pub async fn up(options: &Options) -> Result<Cluster, ClusterError> {
    starting::begin(options, true).await
}

/// Looks without changing anything.
pub async fn status(data_dir: &Path) -> Result<Status, ClusterError> {
    let Some(place) = Place::known(data_dir) else {
        return Ok(Status::Absent);
    };
    let password = initialise::password(&place)?;
    Ok(match proof::look(&place, &password).await? {
        Found::Ours { pid } => {
            let standing = State::read(&place).is_some_and(|state| state.standing);
            Status::Running {
                directory: place.root,
                pid,
                standing,
            }
        }
        Found::Nothing | Found::Stale { .. } => Status::Stopped { directory: place.root },
    })
}

/// Stops the server, standing or left behind; answers whether one was running. Refused while a process of ours owns it.
pub async fn down(data_dir: &Path) -> Result<bool, ClusterError> {
    let Some(place) = Place::known(data_dir) else {
        return Ok(false);
    };
    let _lock = starting::lock(&place)?;
    let password = initialise::password(&place)?;
    let Found::Ours { pid } = proof::look(&place, &password).await? else {
        return Ok(false);
    };
    tokio::task::spawn_blocking(move || stop::server(pid, None))
        .await
        .map_err(|_| ClusterError::Stop(pid))??;
    Ok(true)
}
