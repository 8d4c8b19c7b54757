//! The publisher: hands over outbox rows as jobs and notices, each once, per stream in order.
//!
//! One is active in the installation: who holds a session advisory lock on the very connection that does the work. The others try each second. A
//! killed holder loses the lock with its connection; a stopped or hung one by the session's own time limits. That a row is handed over once
//! rests on the row (`published_at is null`) and not on the lock; only the order does.

mod active;
mod blocked;
mod floor;
mod hand_over;
mod hint;
mod holder;
pub mod reactor;
pub mod reactors;
mod spans;

use std::time::Duration;

use store::{PoolOptions, StoreError};
use tokio_util::sync::CancellationToken;

use self::{active::Active, hint::Hint, holder::Holder};
pub use self::{
    reactor::{Effect, Notice, Reactors, Refused},
    reactors::standard,
};

/// Pause between two tries for the lock, and after a failure.
const TRY: Duration = Duration::from_secs(1);

/// Why publishing ended for now.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PublisherError {
    /// A pooler gave the session's statements to different backends: the lock proves nothing there.
    #[error(
        "the publisher's statements reach different server sessions: the database address goes through a pooler in transaction mode. \
         Give the worker the server's own port, or a pool in session mode"
    )]
    Pooler,
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<sqlx::Error> for PublisherError {
    fn from(error: sqlx::Error) -> Self {
        Self::Store(error.into())
    }
}

impl PublisherError {
    /// Stable machine value.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Pooler => "publisher_behind_pooler",
            Self::Store(error) => error.code(),
        }
    }
}

/// A candidate for the one active publisher.
#[derive(Debug)]
pub struct Publisher {
    options: PoolOptions,
    reactors: Reactors,
}

impl Publisher {
    /// A publisher that will connect by `options` (their pool size is not used: it takes one connection to work and one to listen).
    pub const fn new(options: PoolOptions, reactors: Reactors) -> Self {
        Self { options, reactors }
    }

    /// Publishes whenever nobody else does, until `shutdown`. Every failure is retried.
    pub async fn run(self, shutdown: CancellationToken) {
        active::clear_gauges();
        while !shutdown.is_cancelled() {
            if let Err(error) = self.session(&shutdown).await {
                tracing::warn!(code = error.code(), %error, "publishing was interrupted; trying again");
            }
            active::clear_gauges();
            tokio::select! {
                () = tokio::time::sleep(TRY) => {}
                () = shutdown.cancelled() => {}
            }
        }
    }

    /// One connection's life: wait for the lock, publish, until something breaks or `shutdown`.
    async fn session(&self, shutdown: &CancellationToken) -> Result<(), PublisherError> {
        let mut holder = Holder::connect(&self.options).await?;
        while !holder.try_lock().await? {
            tokio::select! {
                () = tokio::time::sleep(TRY) => {}
                () = shutdown.cancelled() => return Ok(()),
            }
        }
        tracing::info!(backend = holder.backend(), "publishing the outbox");
        let hint = Hint::listen(&self.options)?;
        let outcome = Active::start(holder, &self.reactors, hint).await?.run(shutdown).await;
        tracing::info!("no longer publishing the outbox");
        outcome
    }
}
