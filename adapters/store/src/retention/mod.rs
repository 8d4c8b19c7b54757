//! Removing what is no longer needed: one table of steps, each in short batches.
//!
//! Only disposable rows have a step. Events, money, decisions of people and what they decided about are never touched: no step may name
//! their tables. A later area adds its table by one line in [`STEPS`] and one statement in `steps`.

mod batch;
mod steps;

use std::{future::Future, pin::Pin, time::Duration};

use chrono::{DateTime, Utc};
use sqlx::{PgConnection, PgPool};

use crate::StoreError;

pub use batch::{LARGEST_BATCH, LONGEST_STATEMENT, Swept, sweep};

/// How long rows are kept, in whole days. Zero is allowed where nothing live depends on an ended row: everything eligible goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keep {
    /// Outbox rows after they were handed over.
    pub outbox_days: u32,
    /// Drifts after they were resolved.
    pub drift_days: u32,
    /// Finished `reconcile` operations with their attempts. At least one: the key of a quarter of an hour must not be free again within it.
    pub reconcile_days: u32,
    /// Attempts of operations that ended well.
    pub attempt_days: u32,
    /// Stored answers to keyed requests. At least one: a client may still be repeating its request.
    pub answer_days: u32,
    /// Operator notices that were sent, suppressed or given up.
    pub notice_days: u32,
}

impl Default for Keep {
    fn default() -> Self {
        Self {
            outbox_days: 7,
            drift_days: 90,
            reconcile_days: 7,
            attempt_days: 90,
            answer_days: 30,
            notice_days: 90,
        }
    }
}

/// What the answer to a request that placed an order shrinks to: this field with the order's id.
pub const PLACED_ORDER: &str = "placedOrder";

/// Whose clock wrote the times that a step compares with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeOf {
    /// The database's.
    Database,
    /// The domain's, injected.
    Domain,
}

type Removing<'a> = Pin<Box<dyn Future<Output = Result<u64, StoreError>> + Send + 'a>>;

/// One table's step.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// The table, as logs and metrics name it.
    pub table: &'static str,
    /// What its times are compared with.
    pub time: TimeOf,
    /// How long its rows are kept; zero where the row itself says until when.
    pub kept: fn(&Keep) -> Duration,
    remove: for<'a> fn(&'a mut PgConnection, DateTime<Utc>, i64) -> Removing<'a>,
}

impl Step {
    /// Removes at most `limit` rows whose time is `cut` or earlier, longest overdue first; answers how many it dealt with.
    ///
    /// # Errors
    /// [`StoreError`] when the statement fails; the caller's transaction is then to be rolled back.
    pub async fn remove_in(&self, conn: &mut PgConnection, cut: DateTime<Utc>, limit: i64) -> Result<u64, StoreError> {
        (self.remove)(conn, cut, limit).await
    }
}

const fn step(
    table: &'static str,
    time: TimeOf,
    kept: fn(&Keep) -> Duration,
    remove: for<'a> fn(&'a mut PgConnection, DateTime<Utc>, i64) -> Removing<'a>,
) -> Step {
    Step {
        table,
        time,
        kept,
        remove,
    }
}

/// Every step, in the order of a sweep. Each is independent: one that fails does not stop those after it.
pub const STEPS: &[Step] = &[
    step(
        "webhook_events",
        TimeOf::Database,
        |_| Duration::ZERO,
        steps::webhook_events,
    ),
    step("outbox", TimeOf::Database, |keep| days(keep.outbox_days), steps::outbox),
    step(
        "entitlement_drifts",
        TimeOf::Domain,
        |keep| days(keep.drift_days),
        steps::entitlement_drifts,
    ),
    step(
        "fulfillment_operations",
        TimeOf::Database,
        |keep| days(keep.reconcile_days),
        steps::finished_reconciles,
    ),
    step(
        "fulfillment_history",
        TimeOf::Database,
        |keep| days(keep.attempt_days),
        steps::attempts,
    ),
    step(
        "idempotency_keys",
        TimeOf::Database,
        |keep| days(keep.answer_days),
        steps::answers,
    ),
    step(
        "operator_notices",
        TimeOf::Database,
        |keep| days(keep.notice_days),
        steps::notices,
    ),
    step("pass_runs", TimeOf::Database, |_| days(90), steps::forgotten_passes),
];

/// What the database's clock says, for all of a sweep's cuts.
///
/// # Errors
/// [`StoreError`] when the statement fails.
pub async fn now(pool: &PgPool) -> Result<DateTime<Utc>, StoreError> {
    Ok(sqlx::query_scalar!(r#"select clock_timestamp() as "now!""#)
        .fetch_one(pool)
        .await?)
}

/// Total for any number.
fn days(days: u32) -> Duration {
    Duration::from_secs(u64::from(days).saturating_mul(86_400))
}
