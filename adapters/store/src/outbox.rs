//! The outbox: side effects that committed changes owe, handed over by row state (`published_at`), never by a cursor.
//!
//! Rows are written by the unit of work; here they are read, parked, counted and pruned. Handing over is the publisher's one statement.

use domain::time::Timestamp;
use sqlx::{PgConnection, PgPool};

use crate::error::StoreError;

/// A row that is not published yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pending {
    /// Its place: rows are handed over in this order, per stream without exception.
    pub id: i64,
    /// As `order.paid`.
    pub topic: String,
    /// `<aggregate type>/<aggregate id>`, or `<table>/<key>`.
    pub stream: String,
    /// Of the event that caused it.
    pub position: Option<i64>,
    /// JSON.
    pub payload: String,
    /// JSON: correlation id, causation id, trace context.
    pub headers: String,
    /// Backend that answered, to notice a pooler that changes it between statements.
    pub backend: i32,
}

/// A stream that a failing row blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blocked {
    /// The stream.
    pub stream: String,
    /// The row that does it.
    pub row_id: i64,
    /// Its topic.
    pub topic: String,
    /// How often it was tried since it blocks, or since an operator asked to retry.
    pub attempts: i32,
    /// Why it fails: stable machine value.
    pub code: String,
    /// More about it; no payload.
    pub detail: Option<String>,
    /// Since when.
    pub blocked_at: Timestamp,
    /// When it is tried again.
    pub next_try_at: Timestamp,
    /// Rows that wait behind it, itself included.
    pub parked: i64,
}

/// What waits, in figures.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Backlog {
    /// Rows not published, those of blocked streams included.
    pub pending: i64,
    /// Age of the oldest of them, in seconds; 0 when none waits.
    pub oldest_age_seconds: f64,
    /// Rows of blocked streams.
    pub parked: i64,
    /// Streams that a failing row blocks.
    pub blocked_streams: i64,
}

/// One unpublished row as operators see it: without its payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Its place.
    pub id: i64,
    /// Its topic.
    pub topic: String,
    /// Its stream.
    pub stream: String,
    /// When it was written.
    pub created_at: Timestamp,
    /// Whether its stream is blocked.
    pub parked: bool,
    /// How often it failed.
    pub attempts: i32,
    /// Code of its last failure.
    pub last_error: Option<String>,
}

/// Unpublished rows above `floor` that no block holds, in id order.
///
/// # Errors
/// What the database says.
pub async fn pending_in(connection: &mut PgConnection, floor: i64, limit: i64) -> Result<Vec<Pending>, sqlx::Error> {
    sqlx::query_as!(
        Pending,
        r#"select id, topic, stream, position, payload::text as "payload!", headers::text as "headers!",
                  pg_backend_pid() as "backend!"
             from outbox where published_at is null and not parked and id > $1 order by id limit $2"#,
        floor,
        limit
    )
    .fetch_all(connection)
    .await
}

/// The parked rows of one stream in id order.
///
/// # Errors
/// What the database says.
pub async fn parked_in(connection: &mut PgConnection, stream: &str, limit: i64) -> Result<Vec<Pending>, sqlx::Error> {
    sqlx::query_as!(
        Pending,
        r#"select id, topic, stream, position, payload::text as "payload!", headers::text as "headers!",
                  pg_backend_pid() as "backend!"
             from outbox where parked and stream = $1 order by id limit $2"#,
        stream,
        limit
    )
    .fetch_all(connection)
    .await
}

/// Names of all blocked streams.
///
/// # Errors
/// What the database says.
pub async fn blocked_streams_in(connection: &mut PgConnection) -> Result<Vec<String>, sqlx::Error> {
    sqlx::query_scalar!("select stream from outbox_blocked")
        .fetch_all(connection)
        .await
}

/// Blocked streams whose next try is due, the longest waiting first.
///
/// # Errors
/// What the database says.
pub async fn due_streams_in(connection: &mut PgConnection, limit: i64) -> Result<Vec<String>, sqlx::Error> {
    sqlx::query_scalar!(
        "select stream from outbox_blocked where next_try_at <= clock_timestamp() order by next_try_at, stream limit $1",
        limit
    )
    .fetch_all(connection)
    .await
}

/// Marks rows of blocked streams, so that polls do not meet them again.
///
/// # Errors
/// What the database says.
pub async fn park_in(connection: &mut PgConnection, ids: &[i64]) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "update outbox set parked = true where id = any($1) and published_at is null and not parked",
        ids
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// Writes a failure down: the row is parked and blocks its stream; the pause doubles with each failure of the same row, 5 s to 10 min.
///
/// # Errors
/// What the database says.
pub async fn block_in(
    connection: &mut PgConnection,
    row: &Pending,
    code: &str,
    detail: Option<&str>,
) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "with marked as (
            update outbox set parked = true, attempts = attempts + 1, last_error = $3 where id = $2 and published_at is null)
         insert into outbox_blocked as b (stream, row_id, attempts, code, detail, next_try_at)
         values ($1, $2, 1, $3, $4, clock_timestamp() + interval '5 seconds')
         on conflict (stream) do update set
            attempts = case when b.row_id = excluded.row_id then b.attempts + 1 else 1 end,
            row_id = excluded.row_id, code = excluded.code, detail = excluded.detail,
            next_try_at = clock_timestamp()
                + case when b.row_id = excluded.row_id then least(5 * power(2, least(b.attempts, 10)), 600) else 5 end * interval '1 second'",
        row.stream,
        row.id,
        code,
        detail
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// Frees a stream that has no parked row left. `true`: it is free now.
///
/// # Errors
/// What the database says.
pub async fn unblock_in(connection: &mut PgConnection, stream: &str) -> Result<bool, sqlx::Error> {
    let freed = sqlx::query!(
        "delete from outbox_blocked where stream = $1 and not exists (select from outbox where parked and stream = $1)",
        stream
    )
    .execute(connection)
    .await?;
    Ok(freed.rows_affected() > 0)
}

/// What waits, counted truly.
///
/// # Errors
/// What the database says.
pub async fn backlog_in(connection: &mut PgConnection) -> Result<Backlog, StoreError> {
    let backlog = sqlx::query_as!(
        Backlog,
        r#"with waiting as (select count(*) as n from outbox where published_at is null and not parked),
                held as (select count(*) as n from outbox where parked),
                oldest as (
                    (select created_at from outbox where published_at is null and not parked order by id limit 1)
                    union all
                    (select o.created_at from outbox_blocked b join outbox o on o.id = b.row_id order by o.id limit 1))
           select (waiting.n + held.n) as "pending!", held.n as "parked!",
                  greatest(coalesce(extract(epoch from clock_timestamp() - (select min(created_at) from oldest)), 0), 0)::float8
                      as "oldest_age_seconds!",
                  (select count(*) from outbox_blocked) as "blocked_streams!"
             from waiting, held"#
    )
    .fetch_one(connection)
    .await?;
    Ok(backlog)
}

/// The same, on any connection.
///
/// # Errors
/// What the database says.
pub async fn backlog(pool: &PgPool) -> Result<Backlog, StoreError> {
    let mut connection = pool.acquire().await?;
    backlog_in(&mut connection).await
}

/// Unpublished rows above `after`, oldest first.
///
/// # Errors
/// What the database says.
pub async fn list(pool: &PgPool, after: i64, limit: i64) -> Result<Vec<Listed>, StoreError> {
    let rows = sqlx::query_as!(
        Listed,
        "select id, topic, stream, created_at, parked, attempts, last_error
           from outbox where published_at is null and id > $1 order by id limit $2",
        after,
        limit
    )
    .fetch_all(pool)
    .await?;
    Ok(rows)
}

/// Blocked streams, the longest blocked first.
///
/// # Errors
/// What the database says.
pub async fn list_blocked(pool: &PgPool, limit: i64) -> Result<Vec<Blocked>, StoreError> {
    let rows = sqlx::query_as!(
        Blocked,
        r#"select b.stream, b.row_id, o.topic, b.attempts, b.code, b.detail, b.blocked_at, b.next_try_at,
                  (select count(*) from outbox p where p.parked and p.stream = b.stream) as "parked!"
             from outbox_blocked b join outbox o on o.id = b.row_id order by b.blocked_at, b.stream limit $1"#,
        limit
    )
    .fetch_all(pool)
    .await?;
    Ok(rows)
}

/// Makes blocked streams (one, or all) due now with a fresh budget of pauses. Answers how many.
///
/// # Errors
/// What the database says.
pub async fn retry_in(connection: &mut PgConnection, stream: Option<&str>) -> Result<u64, StoreError> {
    let due = sqlx::query!(
        "update outbox_blocked set next_try_at = clock_timestamp(), attempts = 0 where $1::text is null or stream = $1",
        stream
    )
    .execute(connection)
    .await?;
    Ok(due.rows_affected())
}

/// Gives parked rows without a block their block back, due at once: somebody removed it by hand, and nothing would ever free them.
///
/// # Errors
/// What the database says.
pub async fn adopt_parked_in(connection: &mut PgConnection) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "insert into outbox_blocked (stream, row_id, code, next_try_at)
         select stream, min(id), 'block_missing', clock_timestamp() from outbox where parked group by stream
         on conflict (stream) do nothing"
    )
    .execute(connection)
    .await?;
    Ok(())
}
