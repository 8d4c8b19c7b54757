//! When a delivery of goods is next due, and what was spent. What is owed and what happened is the Delivery stream's.

use std::time::Duration;

use chrono::{DateTime, Utc};
use sqlx::PgConnection;
use uuid::Uuid;

use crate::StoreError;

/// One row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// The order it belongs to.
    pub order_id: Uuid,
    /// Slug of the provider.
    pub provider: String,
    /// As the table knows it.
    pub status: String,
    /// Attempts that count.
    pub attempt_count: i32,
    /// When it is due next.
    pub next_attempt_at: DateTime<Utc>,
    /// Ties together everything that one request set off.
    pub correlation_id: String,
    /// Until `next_attempt_at`, by the database's clock; zero or less when it is due.
    pub due_in_ms: i64,
}

impl Delivery {
    /// Until it is due; `None` when it is.
    pub fn wait(&self) -> Option<Duration> {
        u64::try_from(self.due_in_ms)
            .ok()
            .filter(|ms| *ms > 0)
            .map(Duration::from_millis)
    }
}

/// What a row is changed to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change<'a> {
    /// As the table knows it.
    pub status: &'a str,
    /// Attempts that count.
    pub attempt_count: i32,
    /// Until it is due again; absent leaves the time as it is.
    pub due_in: Option<Duration>,
    /// Class of the provider's last answer.
    pub failure_class: Option<&'a str>,
    /// Stable code of the reason.
    pub code: Option<&'a str>,
    /// The provider's name for the accepted submission.
    pub reference: Option<&'a str>,
}

/// A sum that is about to be spent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spending<'a> {
    /// The order it belongs to.
    pub order_id: Uuid,
    /// Number of the attempt.
    pub attempt: i32,
    /// Slug of the provider.
    pub provider: &'a str,
    /// In minor units of `currency`.
    pub cost_minor: i64,
    /// ISO code.
    pub currency: &'a str,
}

/// Reads one row.
///
/// # Errors
/// [`StoreError`] when the statement fails.
pub async fn find_in(conn: &mut PgConnection, order_id: Uuid) -> Result<Option<Delivery>, StoreError> {
    Ok(sqlx::query_as!(
        Delivery,
        r#"select order_id, provider, status, attempt_count, next_attempt_at, correlation_id,
                  ceil(extract(epoch from next_attempt_at - clock_timestamp()) * 1000)::bigint as "due_in_ms!"
           from goods_deliveries where order_id = $1"#,
        order_id
    )
    .fetch_optional(conn)
    .await?)
}

/// Reads one row; it stays locked until the caller's transaction ends.
///
/// # Errors
/// [`StoreError`] when the statement fails.
pub async fn lock_in(conn: &mut PgConnection, order_id: Uuid) -> Result<Option<Delivery>, StoreError> {
    Ok(sqlx::query_as!(
        Delivery,
        r#"select order_id, provider, status, attempt_count, next_attempt_at, correlation_id,
                  ceil(extract(epoch from next_attempt_at - clock_timestamp()) * 1000)::bigint as "due_in_ms!"
           from goods_deliveries where order_id = $1 for update"#,
        order_id
    )
    .fetch_optional(conn)
    .await?)
}

/// Changes one row.
///
/// # Errors
/// [`StoreError`] when the statement fails.
pub async fn change_in(conn: &mut PgConnection, order_id: Uuid, change: Change<'_>) -> Result<(), StoreError> {
    sqlx::query!(
        r#"update goods_deliveries
           set status = $2, attempt_count = $3,
               next_attempt_at = case when $4::float8 is null then next_attempt_at
                                      else clock_timestamp() + make_interval(secs => $4::float8) end,
               failure_class = $5, last_error_code = $6, provider_reference = coalesce($7, provider_reference),
               updated_at = clock_timestamp()
           where order_id = $1"#,
        order_id,
        change.status,
        change.attempt_count,
        change.due_in.map(|span| span.as_secs_f64()),
        change.failure_class,
        change.code,
        change.reference
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Due rows without an end, longest due first.
///
/// # Errors
/// [`StoreError`] when the statement fails.
pub async fn due_in(conn: &mut PgConnection, limit: i64) -> Result<Vec<(Uuid, String)>, StoreError> {
    let rows = sqlx::query!(
        r#"select order_id, correlation_id from goods_deliveries
           where status in ('pending', 'submitted') and next_attempt_at <= clock_timestamp()
           order by next_attempt_at, order_id limit $1"#,
        limit
    )
    .fetch_all(conn)
    .await?;
    Ok(rows.into_iter().map(|row| (row.order_id, row.correlation_id)).collect())
}

/// Reserves a sum unless the window's total would pass `ceiling_minor`. Reservations of one provider and currency wait for each other.
///
/// # Errors
/// [`StoreError`] when a statement fails.
pub async fn reserve_in(
    conn: &mut PgConnection,
    spending: Spending<'_>,
    ceiling_minor: i64,
    window: Duration,
) -> Result<bool, StoreError> {
    sqlx::query!(
        "select pg_advisory_xact_lock(hashtextextended('goods_spending/' || $1::text || '/' || $2::text, 0))::text as locked",
        spending.provider,
        spending.currency
    )
    .fetch_one(&mut *conn)
    .await?;
    let reserved = sqlx::query!(
        r#"insert into goods_spending (order_id, attempt, provider, cost_minor, currency)
           select $1, $2, $3, $4, $5
           where (select coalesce(sum(cost_minor), 0) from goods_spending
                  where provider = $3 and currency = $5 and counted
                    and reserved_at > clock_timestamp() - make_interval(secs => $6)) + $4::bigint <= $7::bigint
           on conflict (order_id, attempt) do nothing"#,
        spending.order_id,
        spending.attempt,
        spending.provider,
        spending.cost_minor,
        spending.currency,
        window.as_secs_f64(),
        ceiling_minor
    )
    .execute(conn)
    .await?;
    Ok(reserved.rows_affected() == 1)
}

/// An attempt that was surely not executed spent nothing.
///
/// # Errors
/// [`StoreError`] when the statement fails.
pub async fn unspend_in(conn: &mut PgConnection, order_id: Uuid, attempt: i32) -> Result<(), StoreError> {
    sqlx::query!(
        "update goods_spending set counted = false where order_id = $1 and attempt = $2",
        order_id,
        attempt
    )
    .execute(conn)
    .await?;
    Ok(())
}
