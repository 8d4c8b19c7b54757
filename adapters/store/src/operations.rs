//! The operational state of fulfillment operations. Terminal facts are events; these rows say what is due, what is held and what was counted.

use std::time::Duration;

use chrono::{DateTime, Utc};
use sqlx::PgConnection;
use uuid::Uuid;

use crate::StoreError;

/// One row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// The operation.
    pub operation_id: Uuid,
    /// Whose desired state is pushed.
    pub entitlement_id: Uuid,
    /// The one remote user it is about.
    pub subscription_id: Uuid,
    /// The order it belongs to.
    pub order_id: Option<Uuid>,
    /// As stored; may be one this version does not know.
    pub operation: String,
    /// As the table knows it.
    pub status: String,
    /// Desired-state version it was opened for.
    pub version: i64,
    /// Ties together everything that one request set off.
    pub correlation_id: String,
    /// Not applied before this.
    pub effective_at: Option<DateTime<Utc>>,
    /// Attempts of the present budget that count.
    pub attempt_count: i32,
    /// When it is due next.
    pub next_attempt_at: DateTime<Utc>,
    /// Stable code of the last failure.
    pub last_error_code: Option<String>,
    /// A request was sent whose answer never came.
    pub unanswered: bool,
    /// An operator wants it to end as soon as nothing is in flight.
    pub cancel_requested: bool,
    /// When it was made.
    pub created_at: DateTime<Utc>,
    /// Until `next_attempt_at`, by the database's clock; zero or less when it is due.
    pub due_in_ms: i64,
}

impl Operation {
    /// It has ended.
    pub fn is_terminal(&self) -> bool {
        matches!(self.status.as_str(), "succeeded" | "failed" | "cancelled")
    }

    /// Until it is due; `None` when it is.
    pub fn wait(&self) -> Option<Duration> {
        u64::try_from(self.due_in_ms)
            .ok()
            .filter(|ms| *ms > 0)
            .map(Duration::from_millis)
    }
}

/// How an operation ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End<'a> {
    /// The goal was reached.
    Succeeded { code: Option<&'a str> },
    /// It gave up for good.
    Failed { code: &'a str },
    /// It was abandoned.
    Cancelled { code: &'a str },
}

/// When and why an operation is tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Again<'a> {
    /// Stable code of the reason.
    pub code: &'a str,
    /// Until the next attempt.
    pub delay: Duration,
    /// The attempt that was begun is given back.
    pub give_back: bool,
    /// A request of it may have landed, or may still land.
    pub unanswered: bool,
}

/// Reads one row. `lock` keeps it until the caller's transaction ends.
///
/// # Errors
/// [`StoreError`] when the statement fails.
pub async fn find_in(conn: &mut PgConnection, operation_id: Uuid) -> Result<Option<Operation>, StoreError> {
    Ok(sqlx::query_as!(
        Operation,
        r#"select operation_id, entitlement_id, subscription_id, order_id, operation, status, version, correlation_id,
                  effective_at, attempt_count, next_attempt_at, last_error_code, unanswered, cancel_requested, created_at,
                  ceil(extract(epoch from next_attempt_at - clock_timestamp()) * 1000)::bigint as "due_in_ms!"
           from fulfillment_operations where operation_id = $1"#,
        operation_id
    )
    .fetch_optional(conn)
    .await?)
}

/// As [`find_in`]; the row stays locked until the caller's transaction ends.
///
/// # Errors
/// [`StoreError`] when the statement fails.
pub async fn lock_in(conn: &mut PgConnection, operation_id: Uuid) -> Result<Option<Operation>, StoreError> {
    Ok(sqlx::query_as!(
        Operation,
        r#"select operation_id, entitlement_id, subscription_id, order_id, operation, status, version, correlation_id,
                  effective_at, attempt_count, next_attempt_at, last_error_code, unanswered, cancel_requested, created_at,
                  ceil(extract(epoch from next_attempt_at - clock_timestamp()) * 1000)::bigint as "due_in_ms!"
           from fulfillment_operations where operation_id = $1 for update"#,
        operation_id
    )
    .fetch_optional(conn)
    .await?)
}

/// Begins an attempt of an operation that is due, open and not to be cancelled, provided that its entitlement's stream still ends at
/// `sequence`: what is pushed was folded from there. Answers the attempt's number, or nothing when any of this does not hold.
///
/// # Errors
/// [`StoreError`] when the statement fails.
pub async fn start_in(
    conn: &mut PgConnection,
    operation_id: Uuid,
    entitlement_id: Uuid,
    sequence: i64,
) -> Result<Option<i32>, StoreError> {
    Ok(sqlx::query_scalar!(
        r#"update fulfillment_operations
           set status = 'running', attempt_count = attempt_count + 1, next_attempt_at = clock_timestamp(),
               updated_at = clock_timestamp()
           where operation_id = $1 and status in ('pending', 'running', 'retrying')
             and next_attempt_at <= clock_timestamp() and not cancel_requested
             and not exists (select from events where aggregate_type = 'entitlement' and aggregate_id = $2 and sequence > $3)
           returning attempt_count"#,
        operation_id,
        entitlement_id.to_string(),
        sequence
    )
    .fetch_optional(conn)
    .await?)
}

/// Counts an attempt that ended before anything could be called.
///
/// # Errors
/// [`StoreError`] when the statement fails.
pub async fn count_in(conn: &mut PgConnection, operation_id: Uuid) -> Result<(), StoreError> {
    sqlx::query!(
        r#"update fulfillment_operations set attempt_count = attempt_count + 1, updated_at = clock_timestamp()
           where operation_id = $1 and status in ('pending', 'running', 'retrying')"#,
        operation_id
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Ends an operation that has not ended; `false` when it had.
///
/// # Errors
/// [`StoreError`] when the statement fails.
pub async fn end_in(conn: &mut PgConnection, operation_id: Uuid, end: End<'_>) -> Result<bool, StoreError> {
    let (status, code) = match end {
        End::Succeeded { code } => ("succeeded", code),
        End::Failed { code } => ("failed", Some(code)),
        End::Cancelled { code } => ("cancelled", Some(code)),
    };
    let ended = sqlx::query!(
        r#"update fulfillment_operations
           set status = $2, last_error_code = $3, completed_at = clock_timestamp(), updated_at = clock_timestamp(),
               cancel_requested = false
           where operation_id = $1 and (status in ('pending', 'running', 'retrying') or (status = 'failed' and $2 = 'cancelled'))"#,
        operation_id,
        status,
        code
    )
    .execute(conn)
    .await?;
    Ok(ended.rows_affected() == 1)
}

/// Puts an open operation back to wait for its next attempt; `false` when it has ended.
///
/// # Errors
/// [`StoreError`] when the statement fails.
pub async fn again_in(conn: &mut PgConnection, operation_id: Uuid, again: Again<'_>) -> Result<bool, StoreError> {
    let put_back = sqlx::query!(
        r#"update fulfillment_operations
           set status = 'retrying', last_error_code = $2,
               next_attempt_at = clock_timestamp() + make_interval(secs => $3),
               attempt_count = greatest(attempt_count - $4::integer, 0),
               unanswered = unanswered or $5, updated_at = clock_timestamp()
           where operation_id = $1 and status in ('pending', 'running', 'retrying')"#,
        operation_id,
        again.code,
        again.delay.as_secs_f64(),
        i32::from(again.give_back),
        again.unanswered
    )
    .execute(conn)
    .await?;
    Ok(put_back.rows_affected() == 1)
}

/// Notes that a request of an operation that has not ended may be in flight.
///
/// # Errors
/// [`StoreError`] when the statement fails.
pub async fn mark_unanswered_in(conn: &mut PgConnection, operation_id: Uuid) -> Result<(), StoreError> {
    sqlx::query!(
        r#"update fulfillment_operations set unanswered = true, updated_at = clock_timestamp()
           where operation_id = $1 and status in ('pending', 'running', 'retrying') and not unanswered"#,
        operation_id
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Moves the due time of a waiting operation to `at`, never back.
///
/// # Errors
/// [`StoreError`] when the statement fails.
pub async fn wait_until_in(conn: &mut PgConnection, operation_id: Uuid, at: DateTime<Utc>) -> Result<(), StoreError> {
    sqlx::query!(
        r#"update fulfillment_operations set next_attempt_at = greatest(next_attempt_at, $2), updated_at = clock_timestamp()
           where operation_id = $1 and status in ('pending', 'running', 'retrying')"#,
        operation_id,
        at
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Marks a running operation: its run cancels it when nothing was sent. `false` when it is not running.
///
/// # Errors
/// [`StoreError`] when the statement fails.
pub async fn request_cancel_in(conn: &mut PgConnection, operation_id: Uuid) -> Result<bool, StoreError> {
    let marked = sqlx::query!(
        r#"update fulfillment_operations set cancel_requested = true, updated_at = clock_timestamp()
           where operation_id = $1 and status = 'running'"#,
        operation_id
    )
    .execute(conn)
    .await?;
    Ok(marked.rows_affected() == 1)
}

/// A new budget for a failed operation: counter 0, due now; the history goes on. `false` when it has not failed.
///
/// # Errors
/// [`StoreError`]; [`StoreError::Constraint`] when another `reconcile` of the subscription is open.
pub async fn reopen_in(conn: &mut PgConnection, operation_id: Uuid) -> Result<bool, StoreError> {
    let reopened = sqlx::query!(
        r#"update fulfillment_operations
           set status = 'pending', attempt_count = 0, last_error_code = null, completed_at = null, cancel_requested = false,
               next_attempt_at = clock_timestamp(), updated_at = clock_timestamp()
           where operation_id = $1 and status = 'failed'"#,
        operation_id
    )
    .execute(conn)
    .await?;
    Ok(reopened.rows_affected() == 1)
}

/// Makes a waiting operation due now, at an operator's wish. `false` when it does not wait.
///
/// # Errors
/// [`StoreError`] when the statement fails.
pub async fn hurry_in(conn: &mut PgConnection, operation_id: Uuid) -> Result<bool, StoreError> {
    let hurried = sqlx::query!(
        r#"update fulfillment_operations
           set next_attempt_at = greatest(clock_timestamp(), coalesce(effective_at, clock_timestamp())),
               updated_at = clock_timestamp()
           where operation_id = $1 and status in ('pending', 'retrying')"#,
        operation_id
    )
    .execute(conn)
    .await?;
    Ok(hurried.rows_affected() == 1)
}
