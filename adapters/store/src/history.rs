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

/// Adds an entry, or counts the last one up when it says the same.
///
/// # Errors
/// [`StoreError`] when the statement fails.
pub async fn append_in(conn: &mut PgConnection, entry: Entry<'_>) -> Result<(), StoreError> {
    sqlx::query!(
        r#"with latest as (
             select entry, kind, status, attempt, error_code from fulfillment_history
             where operation_id = $1 order by entry desc limit 1),
           repeated as (
             update fulfillment_history h set repeat_count = h.repeat_count + 1, last_at = clock_timestamp()
             from latest
             where h.operation_id = $1 and h.entry = latest.entry and latest.kind = $2 and latest.status = $3
               and latest.attempt = $4 and latest.error_code is not distinct from $5
             returning h.entry)
           insert into fulfillment_history (operation_id, entry, kind, status, attempt, error_code, correlation_id)
           select $1, coalesce((select entry from latest), 0) + 1, $2, $3, $4, $5, $6
           where not exists (select from repeated)
           on conflict (operation_id, entry) do nothing"#,
        entry.operation_id,
        entry.kind,
        entry.status,
        entry.attempt,
        entry.error_code,
        entry.correlation_id
    )
    .execute(conn)
    .await?;
    Ok(())
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
