//! Batches of one step: each in a transaction that cannot hold a lock for long.

use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};
use sqlx::PgPool;

use super::Step;
use crate::{SideRows, StoreError};

/// Rows of the first batch. One that takes too long is taken back, and the step goes on with smaller ones.
pub const LARGEST_BATCH: i64 = 5_000;

/// A batch this small that still takes too long ends its step.
const SMALLEST_BATCH: i64 = 50;

/// No statement, and so no lock of it, lasts longer.
pub const LONGEST_STATEMENT: Duration = Duration::from_millis(900);

/// What a step did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Rows removed or shortened.
    pub rows: u64,
    /// The longest batch, from its begin to its commit.
    pub longest: Duration,
    /// Time was up before everything was removed; the next sweep goes on.
    pub unfinished: bool,
}

/// Runs a step until nothing is left whose time is `cut` or earlier, or until `end`.
///
/// # Errors
/// What had been removed by then, with the [`StoreError`] of the batch that failed.
pub async fn sweep(pool: &PgPool, step: &Step, cut: DateTime<Utc>, end: Instant) -> (Swept, Result<(), StoreError>) {
    let mut swept = Swept::default();
    let mut limit = LARGEST_BATCH;
    loop {
        let begun = Instant::now();
        if begun >= end {
            swept.unfinished = true;
            return (swept, Ok(()));
        }
        let outcome = batch(pool, step, cut, limit).await;
        swept.longest = swept.longest.max(begun.elapsed());
        match outcome {
            Ok(rows) => {
                swept.rows = swept.rows.saturating_add(rows);
                if i64::try_from(rows).is_ok_and(|rows| rows < limit) {
                    return (swept, Ok(()));
                }
            }
            Err(error) if took_too_long(&error) && limit > SMALLEST_BATCH => {
                limit = limit.checked_div(4).unwrap_or(SMALLEST_BATCH).max(SMALLEST_BATCH);
            }
            Err(error) => return (swept, Err(error)),
        }
    }
}

async fn batch(pool: &PgPool, step: &Step, cut: DateTime<Utc>, limit: i64) -> Result<u64, StoreError> {
    let mut rows = SideRows::begin(pool).await?;
    let longest = i64::try_from(LONGEST_STATEMENT.as_millis()).unwrap_or(i64::MAX);
    sqlx::query!(
        "select set_config('statement_timeout', $1::bigint::text, true) as statement, set_config('lock_timeout', '200', true) as lock",
        longest
    )
    .fetch_one(rows.conn())
    .await?;
    let removed = step.remove_in(rows.conn(), cut, limit).await?;
    fail::fail_point!("retention.before_commit", |_| Err(StoreError::Unavailable(
        sqlx::Error::WorkerCrashed
    )));
    rows.commit().await?;
    Ok(removed)
}

/// The time limit of the statement, or of waiting for a lock.
fn took_too_long(error: &StoreError) -> bool {
    match error {
        StoreError::Unavailable(sqlx::Error::Database(refusal)) => {
            refusal.code().is_some_and(|code| code == "57014" || code == "55P03")
        }
        _ => false,
    }
}
