//! Comparing a read model with what the log says it should be.
//!
//! Live rows and cursor come from one read-only snapshot, which draws no transaction id and so holds nobody's fence. The rows that should be
//! are built in a table of the session alone, in short transactions, up to that cursor; then both are walked in key order.

mod compare;

use std::time::Duration;

use sqlx::{Connection as _, PgConnection, PgPool};
use store::checkpoint;

pub use compare::{Difference, Kind};

use crate::{
    ProjectionError,
    projection::Projection,
    registry::{Name, for_projection},
    replay::{Guard, OnProgress, catch_up},
};

/// Longest time that the snapshot is held.
const LIMIT: Duration = Duration::from_mins(5);

/// The outcome of a verification.
#[derive(Clone, Debug, PartialEq)]
pub struct Verified {
    /// Which.
    pub projection: &'static str,
    /// Live rows and replayed rows are compared as of here.
    pub position: i64,
    /// Rows compared.
    pub rows: u64,
    /// Differences found in all.
    pub difference_count: u64,
    /// The first of them, in key order.
    pub differences: Vec<Difference>,
}

/// Replays one read model beside the live one and compares every row.
///
/// # Errors
/// An event that cannot be projected, a twin at work, more than five minutes, or what the database says.
pub async fn verify(pool: &PgPool, name: Name, on_progress: OnProgress<'_>) -> Result<Verified, ProjectionError> {
    let limit_seconds = LIMIT.as_secs();
    let work = async { for_projection!(name, verify_one(pool, on_progress)) };
    tokio::time::timeout(LIMIT, work)
        .await
        .unwrap_or(Err(ProjectionError::TooLong { limit_seconds }))
}

async fn verify_one<P: Projection>(pool: &PgPool, on_progress: OnProgress<'_>) -> Result<Verified, ProjectionError> {
    // The same lock as a rebuild's: its exchange of tables must not happen under the snapshot.
    let mut guard = Guard::take(pool, P::NAME).await?;
    let mut live = pool.acquire().await?.detach();
    let mut snapshot = live
        .begin_with("begin isolation level repeatable read, read only")
        .await?;
    sqlx::raw_sql("set local idle_in_transaction_session_timeout = '300s'; set local jit = off")
        .execute(&mut *snapshot)
        .await?;
    let position = checkpoint::position_in(&mut snapshot, P::NAME).await?.unwrap_or(0);
    build_shadow::<P>(guard.connection(), position, on_progress).await?;
    let found = compare::compare::<P>(&mut snapshot, guard.connection()).await?;
    snapshot.rollback().await?;
    guard.release().await;
    Ok(Verified {
        projection: P::NAME,
        position,
        rows: found.rows,
        difference_count: found.count,
        differences: found.differences,
    })
}

async fn build_shadow<P: Projection>(
    connection: &mut PgConnection,
    position: i64,
    on_progress: OnProgress<'_>,
) -> Result<(), ProjectionError> {
    sqlx::raw_sql(P::TABLE.create_shadow).execute(&mut *connection).await?;
    // Never with `read`: a table that is missing here must fail, not write to the live one.
    sqlx::raw_sql("set search_path = pg_temp, public")
        .execute(&mut *connection)
        .await?;
    catch_up::<P>(connection, position, on_progress).await
}
