//! What happened to an operation, without bodies. The same thing again is one row with a count.

use chrono::{DateTime, Utc};
use sqlx::PgConnection;
use uuid::Uuid;

use crate::StoreError;

/// Something that happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// The operation.
    pub operation_id: Uuid,
    /// `attempt`, `snooze`, `hold`, `refusal`, `close`, `operator`.
    pub kind: &'a str,
    /// Status of the operation afterwards.
    pub status: &'a str,
    /// Number of the attempt it belongs to.
    pub attempt: i32,
    /// Stable code, where something failed.
    pub error_code: Option<&'a str>,
    /// Ties together everything that one request set off.
    pub correlation_id: &'a str,
}

/// One stored entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// Its place in the history, from 1.
    pub entry: i32,
    /// Its kind.
    pub kind: String,
    /// As the table knows it.
    pub status: String,
    /// Number of the attempt.
    pub attempt: i32,
    /// Stable code, where something failed.
    pub error_code: Option<String>,
    /// Ties together everything that one request set off.
    pub correlation_id: String,
    /// How often it happened in a row.
    pub repeat_count: i32,
    /// When it happened first.
    pub first_at: DateTime<Utc>,
    /// When it happened last.
    pub last_at: DateTime<Utc>,
}

/// How often an entry is tried whose place another writer took meanwhile.
const TRIES: u32 = 8;

/// Adds an entry, or counts up the one that says the same. Between waits the same may be said again: a run that waits for a lease and then
/// for its time, over and over, is two rows with counts.
///
/// # Errors
/// [`StoreError`] when the statement fails; [`StoreError::Conflict`] when others took the place again and again.
pub async fn append_in(conn: &mut PgConnection, entry: Entry<'_>) -> Result<(), StoreError> {
    for _ in 0..TRIES {
        if try_append_in(conn, entry).await? {
            return Ok(());
        }
    }
    Err(StoreError::Conflict)
}

/// `false` when another writer took the place: its entry is visible to the next try.
async fn try_append_in(conn: &mut PgConnection, entry: Entry<'_>) -> Result<bool, StoreError> {
    Ok(sqlx::query_scalar!(
        r#"with turned as (
             select coalesce(max(entry), 0) as entry from fulfillment_history
             where operation_id = $1 and kind not in ('snooze', 'hold', 'refusal')),
           repeated as (
             update fulfillment_history h set repeat_count = h.repeat_count + 1, last_at = clock_timestamp()
             where h.operation_id = $1 and h.entry = (
               select same.entry from fulfillment_history same, turned
               where same.operation_id = $1 and same.entry >= turned.entry and same.kind = $2 and same.status = $3
                 and same.attempt = $4 and same.error_code is not distinct from $5
               order by same.entry desc limit 1)
             returning h.entry),
           added as (
             insert into fulfillment_history (operation_id, entry, kind, status, attempt, error_code, correlation_id)
             select $1, coalesce((select max(entry) from fulfillment_history where operation_id = $1), 0) + 1, $2, $3, $4, $5, $6
             where not exists (select from repeated)
             on conflict (operation_id, entry) do nothing
             returning entry)
           select exists (select from repeated union all select from added) as "done!""#,
        entry.operation_id,
        entry.kind,
        entry.status,
        entry.attempt,
        entry.error_code,
        entry.correlation_id
    )
    .fetch_one(conn)
    .await?)
}

/// All entries of an operation, oldest first.
///
/// # Errors
/// [`StoreError`] when the statement fails.
pub async fn list_in(conn: &mut PgConnection, operation_id: Uuid) -> Result<Vec<Stored>, StoreError> {
    Ok(sqlx::query_as!(
        Stored,
        r#"select entry, kind, status, attempt, error_code, correlation_id, repeat_count, first_at, last_at
           from fulfillment_history where operation_id = $1 order by entry"#,
        operation_id
    )
    .fetch_all(conn)
    .await?)
}
