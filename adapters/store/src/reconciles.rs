//! Rows of `reconcile` operations, and the operations whose job went missing.

use std::time::Duration;

use chrono::{DateTime, Utc};
use sqlx::PgConnection;
use uuid::Uuid;

use crate::StoreError;

/// A `reconcile` to be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewReconcile {
    /// The operation.
    pub operation_id: Uuid,
    /// Whose desired state is pushed.
    pub entitlement_id: Uuid,
    /// The one remote user it is about.
    pub subscription_id: Uuid,
    /// Desired-state version.
    pub version: i64,
    /// Unique over all operations.
    pub idempotency_key: String,
    /// Ties together everything that one request set off.
    pub correlation_id: String,
    /// Until it is due.
    pub delay: Duration,
}

/// A due operation without a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Idle {
    /// The operation.
    pub operation_id: Uuid,
    /// Ties together everything that one request set off.
    pub correlation_id: String,
}

/// A `reconcile` of this subscription is open.
///
/// # Errors
/// [`StoreError`] when the statement fails.
pub async fn is_open_in(conn: &mut PgConnection, subscription_id: Uuid) -> Result<bool, StoreError> {
    Ok(sqlx::query_scalar!(
        r#"select exists (select from fulfillment_operations where subscription_id = $1 and operation = 'reconcile'
                          and status in ('pending', 'running', 'retrying')) as "open!""#,
        subscription_id
    )
    .fetch_one(conn)
    .await?)
}

/// The open `reconcile` of a subscription with its status.
///
/// # Errors
/// [`StoreError`] when the statement fails.
pub async fn open_in(conn: &mut PgConnection, subscription_id: Uuid) -> Result<Option<(Uuid, String)>, StoreError> {
    let row = sqlx::query!(
        r#"select operation_id, status from fulfillment_operations
           where subscription_id = $1 and operation = 'reconcile' and status in ('pending', 'running', 'retrying')"#,
        subscription_id
    )
    .fetch_optional(conn)
    .await?;
    Ok(row.map(|row| (row.operation_id, row.status)))
}

/// What is under way for a subscription, of what is due at `now`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UnderWay {
    /// An operation that waits for its run: whatever happened before now, that run will see.
    pub waits: bool,
    /// An operation whose run may have looked already.
    pub runs: bool,
}

/// Whether an operation will converge a subscription anyway. Changes that are scheduled for later than `now` do not count.
///
/// # Errors
/// [`StoreError`] when the statement fails.
pub async fn under_way_in(
    conn: &mut PgConnection,
    subscription_id: Uuid,
    now: DateTime<Utc>,
) -> Result<UnderWay, StoreError> {
    Ok(sqlx::query_as!(
        UnderWay,
        r#"select coalesce(bool_or(status <> 'running'), false) as "waits!", coalesce(bool_or(status = 'running'), false) as "runs!"
           from fulfillment_operations
           where subscription_id = $1 and status in ('pending', 'running', 'retrying')
             and (effective_at is null or effective_at <= $2)"#,
        subscription_id,
        now
    )
    .fetch_one(conn)
    .await?)
}

/// How many `reconcile`s are open, counted up to `most`.
///
/// # Errors
/// [`StoreError`] when the statement fails.
pub async fn open_count_in(conn: &mut PgConnection, most: i64) -> Result<i64, StoreError> {
    Ok(sqlx::query_scalar!(
        r#"select count(*) as "count!" from (
               select from fulfillment_operations
               where operation = 'reconcile' and status in ('pending', 'running', 'retrying') limit $1) open"#,
        most
    )
    .fetch_one(conn)
    .await?)
}

/// The key that an operation was opened under.
///
/// # Errors
/// [`StoreError`] when the statement fails.
pub async fn key_in(conn: &mut PgConnection, operation_id: Uuid) -> Result<Option<String>, StoreError> {
    Ok(sqlx::query_scalar!(
        "select idempotency_key from fulfillment_operations where operation_id = $1",
        operation_id
    )
    .fetch_optional(conn)
    .await?)
}

/// Writes the row.
///
/// # Errors
/// [`StoreError::Conflict`] when one was opened meanwhile: nothing is written, rerun.
pub async fn insert_in(conn: &mut PgConnection, row: &NewReconcile) -> Result<(), StoreError> {
    if offer_in(conn, row).await? {
        Ok(())
    } else {
        Err(StoreError::Conflict)
    }
}

/// Writes the row, unless one is open already or its key was used before: `false`, and nothing is written.
///
/// # Errors
/// [`StoreError`] when the statement fails.
pub async fn offer_in(conn: &mut PgConnection, row: &NewReconcile) -> Result<bool, StoreError> {
    let inserted = sqlx::query!(
        r#"insert into fulfillment_operations
               (operation_id, entitlement_id, subscription_id, operation, version, idempotency_key, correlation_id, next_attempt_at)
           values ($1, $2, $3, 'reconcile', $4, $5, $6, clock_timestamp() + make_interval(secs => $7))
           on conflict do nothing"#,
        row.operation_id,
        row.entitlement_id,
        row.subscription_id,
        row.version,
        row.idempotency_key,
        row.correlation_id,
        row.delay.as_secs_f64()
    )
    .execute(conn)
    .await?;
    Ok(inserted.rows_affected() == 1)
}

/// Open operations that were due at least `age` ago, that nobody holds a lease for and whose job is not on its way through the outbox;
/// longest due first. Whether a live job exists, the insert finds out.
///
/// # Errors
/// [`StoreError`] when the statement fails.
pub async fn idle_in(conn: &mut PgConnection, age: Duration, limit: i64) -> Result<Vec<Idle>, StoreError> {
    Ok(sqlx::query_as!(
        Idle,
        r#"select operation.operation_id, operation.correlation_id from fulfillment_operations operation
           where operation.status in ('pending', 'running', 'retrying')
             and operation.next_attempt_at < clock_timestamp() - make_interval(secs => $1)
             and not exists (select from subscription_leases lease
                             where lease.operation_id = operation.operation_id and lease.released_at is null
                               and lease.expires_at > clock_timestamp())
             and not exists (select from outbox
                             where published_at is null and topic = 'entitlement.operation_opened'
                               and payload ->> 'operationId' = operation.operation_id::text)
           order by operation.next_attempt_at, operation.operation_id limit $2"#,
        age.as_secs_f64(),
        limit
    )
    .fetch_all(conn)
    .await?)
}
