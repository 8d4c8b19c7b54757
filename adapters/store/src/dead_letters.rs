//! Work that ended without success, kept longer than the queue keeps its jobs.

use chrono::{DateTime, Utc};
use sqlx::PgConnection;

use crate::StoreError;

/// A new dead letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewDeadLetter<'a> {
    /// Kind of the job.
    pub kind: &'a str,
    /// Operation id, order id or pass name that the job was for.
    pub subject: &'a str,
    /// The queue's job.
    pub job_id: Option<i64>,
    /// Attempts that were made.
    pub attempts: i32,
    /// Stable code of the reason.
    pub code: &'a str,
    /// Ties together everything that one request set off.
    pub correlation_id: &'a str,
}

/// One stored dead letter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadLetter {
    /// Its id.
    pub dead_letter_id: i64,
    /// Its kind.
    pub kind: String,
    /// What it is for.
    pub subject: String,
    /// The queue's job.
    pub job_id: Option<i64>,
    /// Attempts that were made.
    pub attempts: i32,
    /// Stable code of the reason.
    pub code: String,
    /// Ties together everything that one request set off.
    pub correlation_id: String,
    /// When it ended.
    pub occurred_at: DateTime<Utc>,
    /// When it was dealt with.
    pub resolved_at: Option<DateTime<Utc>>,
}

/// Writes one, unless the same is open already.
///
/// # Errors
/// [`StoreError`] when the statement fails.
pub async fn insert_in(conn: &mut PgConnection, letter: NewDeadLetter<'_>) -> Result<(), StoreError> {
    sqlx::query!(
        r#"insert into dead_letters (kind, subject, job_id, attempts, code, correlation_id)
           select $1, $2, $3, $4, $5, $6
           where not exists (select from dead_letters
                             where kind = $1 and subject = $2 and code = $5 and resolved_at is null)"#,
        letter.kind,
        letter.subject,
        letter.job_id,
        letter.attempts,
        letter.code,
        letter.correlation_id
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// As [`insert_in`], for a letter that is written late: nothing when its subject got one of the same code since `since`, even if it was
/// dealt with meanwhile.
///
/// # Errors
/// [`StoreError`] when the statement fails.
pub async fn insert_since_in(
    conn: &mut PgConnection,
    letter: NewDeadLetter<'_>,
    since: Option<DateTime<Utc>>,
) -> Result<(), StoreError> {
    sqlx::query!(
        r#"insert into dead_letters (kind, subject, job_id, attempts, code, correlation_id)
           select $1, $2, $3, $4, $5, $6
           where not exists (select from dead_letters where kind = $1 and subject = $2 and code = $5
                             and (resolved_at is null or occurred_at >= $7))"#,
        letter.kind,
        letter.subject,
        letter.job_id,
        letter.attempts,
        letter.code,
        letter.correlation_id,
        since
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Closes what is open for a subject: it was retried, cancelled or done after all.
///
/// # Errors
/// [`StoreError`] when the statement fails.
pub async fn resolve_in(conn: &mut PgConnection, kind: &str, subject: &str) -> Result<(), StoreError> {
    sqlx::query!(
        "update dead_letters set resolved_at = clock_timestamp() where kind = $1 and subject = $2 and resolved_at is null",
        kind,
        subject
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Open ones, newest first.
///
/// # Errors
/// [`StoreError`] when the statement fails.
pub async fn open_in(conn: &mut PgConnection, limit: i64) -> Result<Vec<DeadLetter>, StoreError> {
    Ok(sqlx::query_as!(
        DeadLetter,
        r#"select dead_letter_id, kind, subject, job_id, attempts, code, correlation_id, occurred_at, resolved_at
           from dead_letters where resolved_at is null order by dead_letter_id desc limit $1"#,
        limit
    )
    .fetch_all(conn)
    .await?)
}
