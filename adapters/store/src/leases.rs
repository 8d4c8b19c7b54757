//! One writer to the panel per subscription at a time. Every time here is the database's.

use std::time::Duration;

use sqlx::PgConnection;
use uuid::Uuid;

use crate::StoreError;

/// A lease that was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lease {
    /// It is the caller's.
    Taken {
        /// The lease before ended without its holder having recorded anything: a request of it may be in flight.
        taken_over: bool,
        /// The operation that held the lease before.
        previous_operation_id: Option<Uuid>,
    },
    /// Somebody else holds it.
    Refused {
        /// Until it ends.
        rest: Duration,
    },
}

/// How a holder finds its lease when it comes back to record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holding {
    /// Still its own; released by this call.
    Released,
    /// Released under its token before: the record was committed and its answer lost.
    ReleasedBefore,
    /// Somebody else took it over.
    FencedOut,
}

/// A lease that ended without an outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeadLease {
    /// The one remote user it is about.
    pub subscription_id: Uuid,
    /// Of its holder.
    pub token: Uuid,
    /// The operation.
    pub operation_id: Uuid,
}

/// Takes the lease when it is free: never taken, released, or ended.
///
/// # Errors
/// [`StoreError`] when a statement fails.
pub async fn take_in(
    conn: &mut PgConnection,
    subscription_id: Uuid,
    token: Uuid,
    operation_id: Uuid,
    span: Duration,
) -> Result<Lease, StoreError> {
    let taken = sqlx::query!(
        r#"insert into subscription_leases as lease (subscription_id, token, operation_id, expires_at)
           values ($1, $2, $3, clock_timestamp() + make_interval(secs => $4))
           on conflict (subscription_id) do update
               set taken_over = lease.released_at is null, previous_operation_id = lease.operation_id,
                   token = excluded.token, operation_id = excluded.operation_id,
                   expires_at = clock_timestamp() + make_interval(secs => $4), released_at = null
               where lease.released_at is not null or lease.expires_at <= clock_timestamp()
           returning taken_over, previous_operation_id"#,
        subscription_id,
        token,
        operation_id,
        span.as_secs_f64()
    )
    .fetch_optional(&mut *conn)
    .await?;
    match taken {
        Some(row) => Ok(Lease::Taken {
            taken_over: row.taken_over,
            previous_operation_id: row.previous_operation_id,
        }),
        None => Ok(Lease::Refused {
            rest: rest_in(conn, subscription_id).await?,
        }),
    }
}

async fn rest_in(conn: &mut PgConnection, subscription_id: Uuid) -> Result<Duration, StoreError> {
    let seconds = sqlx::query_scalar!(
        r#"select greatest(extract(epoch from expires_at - clock_timestamp()), 0)::float8 as "rest!"
           from subscription_leases where subscription_id = $1 and released_at is null"#,
        subscription_id
    )
    .fetch_optional(conn)
    .await?;
    Ok(Duration::try_from_secs_f64(seconds.unwrap_or(0.0)).unwrap_or_default())
}

/// Gives the lease back, if it is still held under `token`. It may have ended: as long as nobody took it over, its holder is the last writer.
/// The row stays locked until the caller's transaction ends.
///
/// # Errors
/// [`StoreError`] when a statement fails.
pub async fn release_in(conn: &mut PgConnection, subscription_id: Uuid, token: Uuid) -> Result<Holding, StoreError> {
    let found = sqlx::query!(
        "select token, released_at from subscription_leases where subscription_id = $1 for update",
        subscription_id
    )
    .fetch_optional(&mut *conn)
    .await?;
    match found {
        Some(row) if row.token == token && row.released_at.is_some() => Ok(Holding::ReleasedBefore),
        Some(row) if row.token == token => {
            sqlx::query!(
                "update subscription_leases set released_at = clock_timestamp() where subscription_id = $1",
                subscription_id
            )
            .execute(conn)
            .await?;
            Ok(Holding::Released)
        }
        Some(_) | None => Ok(Holding::FencedOut),
    }
}

/// Whether `token` still holds the lease, which may have ended meanwhile. The row stays locked until the caller's transaction ends.
///
/// # Errors
/// [`StoreError`] when the statement fails.
pub async fn held_in(conn: &mut PgConnection, subscription_id: Uuid, token: Uuid) -> Result<bool, StoreError> {
    let held = sqlx::query_scalar!(
        "select token from subscription_leases where subscription_id = $1 and token = $2 and released_at is null for update",
        subscription_id,
        token
    )
    .fetch_optional(conn)
    .await?;
    Ok(held.is_some())
}

/// Leases that ended at least `age` ago without an outcome and whose operation has ended too, so that no run of it will take them over.
///
/// # Errors
/// [`StoreError`] when the statement fails.
pub async fn orphaned_in(conn: &mut PgConnection, age: Duration, limit: i64) -> Result<Vec<DeadLease>, StoreError> {
    Ok(sqlx::query_as!(
        DeadLease,
        r#"select lease.subscription_id, lease.token, lease.operation_id from subscription_leases lease
           where lease.released_at is null and lease.expires_at < clock_timestamp() - make_interval(secs => $1)
             and not exists (select from fulfillment_operations operation
                             where operation.operation_id = lease.operation_id
                               and operation.status in ('pending', 'running', 'retrying'))
           order by lease.expires_at limit $2"#,
        age.as_secs_f64(),
        limit
    )
    .fetch_all(conn)
    .await?)
}

/// Removes leases that were given back at least `age` ago; answers how many.
///
/// # Errors
/// [`StoreError`] when the statement fails.
pub async fn prune_in(conn: &mut PgConnection, age: Duration, limit: i64) -> Result<u64, StoreError> {
    let removed = sqlx::query!(
        r#"delete from subscription_leases where subscription_id in
             (select subscription_id from subscription_leases
              where released_at < clock_timestamp() - make_interval(secs => $1)
              order by released_at limit $2 for update skip locked)"#,
        age.as_secs_f64(),
        limit
    )
    .execute(conn)
    .await?;
    Ok(removed.rows_affected())
}
