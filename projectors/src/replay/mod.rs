//! Building a read model anew from the log while the old one goes on serving readers.
//!
//! The rows grow in schema `rebuild` in short batches, by the same statements as the live ones; then one transaction takes the live cursor's row,
//! applies the rest and exchanges the tables. Readers see the old table whole or the new table whole. What was replaced stays in `old` until
//! the next rebuild. A rebuild that was interrupted is gone on with.

mod build;
mod exchange;
mod guard;

use std::time::Duration;

use sqlx::PgPool;

pub(crate) use build::catch_up;
pub(crate) use guard::Guard;

use crate::{
    ProjectionError,
    projection::Projection,
    registry::{Name, for_projection},
};

/// How long a rebuild waits for the log to settle.
const PATIENCE: Duration = Duration::from_secs(30);

/// How far a rebuild or a verification came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Which.
    pub projection: &'static str,
    /// Every event up to here is in the new rows.
    pub position: i64,
    /// Where the log's end was last seen.
    pub head: i64,
}

/// Told about every batch.
pub type OnProgress<'a> = &'a (dyn Fn(Progress) + Send + Sync);

/// A finished rebuild.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rebuilt {
    /// Which.
    pub projection: &'static str,
    /// The new rows show the log up to here.
    pub position: i64,
    /// Where it went on from; 0 when it began anew.
    pub resumed_from: i64,
    /// Events applied by this call.
    pub events: u64,
}

/// Rebuilds one read model.
///
/// # Errors
/// An event that cannot be projected, a broken connection (with the position reached), a twin at work, tables that could not be exchanged.
/// It never answers `Ok` with less than the whole log that was settled when it ended.
pub async fn rebuild(pool: &PgPool, name: Name, on_progress: OnProgress<'_>) -> Result<Rebuilt, ProjectionError> {
    for_projection!(name, rebuild_one(pool, on_progress))
}

async fn rebuild_one<P: Projection>(pool: &PgPool, on_progress: OnProgress<'_>) -> Result<Rebuilt, ProjectionError> {
    store::checkpoint::ensure(pool, P::NAME).await?;
    let mut guard = Guard::take(pool, P::NAME).await?;
    let mut rebuild = build::Rebuild::<P>::open(guard.connection()).await?;
    let resumed_from = rebuild.position();
    let outcome = async {
        loop {
            let head = store::high_water::settle(guard.connection(), PATIENCE).await?;
            rebuild.reach(guard.connection(), head, on_progress).await?;
            if exchange::exchange(&mut rebuild, guard.connection(), head, on_progress).await? {
                return Ok(());
            }
        }
    };
    match outcome.await {
        Ok(()) => {}
        Err(ProjectionError::Store(source)) => {
            return Err(ProjectionError::Interrupted {
                position: rebuild.position(),
                source,
            });
        }
        Err(error) => return Err(error),
    }
    guard.release().await;
    Ok(Rebuilt {
        projection: P::NAME,
        position: rebuild.position(),
        resumed_from,
        events: rebuild.events(),
    })
}
