//! What operators see of notices, and their word to send one again. Payloads are not shown.

use chrono::{DateTime, Utc};
use domain::notices::Kind;
use sqlx::{PgConnection, PgPool};

use super::known;
use crate::StoreError;

/// One notice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoticeRow {
    /// Its row.
    pub notice_id: i64,
    /// What it is about.
    pub kind: String,
    /// Once per kind and key.
    pub dedupe_key: String,
    /// `pending`, `sending`, `sent`, `suppressed` or `failed`.
    pub status: String,
    /// Why it was not sent, or not yet.
    pub error_code: Option<String>,
    /// Requests that count.
    pub attempts: i32,
    /// When it was queued first.
    pub created_at: DateTime<Utc>,
    /// Not to be sent before.
    pub next_attempt_at: DateTime<Utc>,
    /// When it was sent.
    pub sent_at: Option<DateTime<Utc>>,
}

/// Which notices.
#[derive(Clone, Copy, Debug, Default)]
pub struct Filter<'a> {
    /// Of one status.
    pub status: Option<&'a str>,
    /// Of one kind.
    pub kind: Option<Kind>,
}

/// Notices of one kind and status that are not done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// What they are about.
    pub kind: Kind,
    /// `pending` (those being sent among them) or `failed`.
    pub status: String,
    /// How many.
    pub count: i64,
    /// Seconds since the oldest was queued.
    pub oldest_seconds: i64,
}

/// Notices, newest first.
///
/// # Errors
/// [`StoreError`] when the statement fails.
pub async fn list(pool: &PgPool, filter: Filter<'_>, limit: i64) -> Result<Vec<NoticeRow>, StoreError> {
    Ok(sqlx::query_as!(
        NoticeRow,
        r#"select notice_id, kind, dedupe_key, status, error_code, attempts, created_at, next_attempt_at, sent_at
             from operator_notices
            where ($1::text is null or status = $1) and ($2::text is null or kind = $2)
            order by notice_id desc limit $3"#,
        filter.status,
        filter.kind.map(Kind::as_str),
        limit
    )
    .fetch_all(pool)
    .await?)
}

/// The notice of a kind and key.
///
/// # Errors
/// [`StoreError`] when the statement fails.
pub async fn find(pool: &PgPool, kind: Kind, dedupe_key: &str) -> Result<Option<NoticeRow>, StoreError> {
    Ok(sqlx::query_as!(
        NoticeRow,
        r#"select notice_id, kind, dedupe_key, status, error_code, attempts, created_at, next_attempt_at, sent_at
             from operator_notices where kind = $1 and dedupe_key = $2"#,
        kind.as_str(),
        dedupe_key
    )
    .fetch_optional(pool)
    .await?)
}

/// What waits and what failed, by kind.
///
/// # Errors
/// [`StoreError`] when the statement fails.
pub async fn waiting(pool: &PgPool) -> Result<Vec<Waiting>, StoreError> {
    let rows = sqlx::query!(
        r#"select kind, case when status = 'failed' then 'failed' else 'pending' end as "status!", count(*) as "count!",
                  greatest(floor(extract(epoch from clock_timestamp() - min(queued_at))), 0)::bigint as "oldest_seconds!"
             from operator_notices where status in ('pending', 'sending', 'failed')
            group by 1, 2 order by 1, 2"#
    )
    .fetch_all(pool)
    .await?;
    rows.into_iter()
        .map(|row| {
            Ok(Waiting {
                kind: known("a notice's kind", &row.kind)?,
                status: row.status,
                count: row.count,
                oldest_seconds: row.oldest_seconds,
            })
        })
        .collect()
}

/// A person wants a notice sent that failed or was suppressed: it is due now, with a new budget. `false` when it is neither.
///
/// # Errors
/// [`StoreError`] when the statement fails.
pub async fn retry_in(conn: &mut PgConnection, notice_id: i64) -> Result<bool, StoreError> {
    let queued = sqlx::query!(
        r#"update operator_notices set status = 'pending', attempts = 0, unanswered = 0, error_code = null,
                  queued_at = clock_timestamp(), next_attempt_at = clock_timestamp()
            where notice_id = $1 and status in ('failed', 'suppressed')"#,
        notice_id
    )
    .execute(conn)
    .await?;
    Ok(queued.rows_affected() == 1)
}

/// As [`retry_in`], for every one that failed; answers how many.
///
/// # Errors
/// [`StoreError`] when the statement fails.
pub async fn retry_failed_in(conn: &mut PgConnection) -> Result<u64, StoreError> {
    let queued = sqlx::query!(
        r#"update operator_notices set status = 'pending', attempts = 0, unanswered = 0, error_code = null,
                  queued_at = clock_timestamp(), next_attempt_at = clock_timestamp()
            where status = 'failed'"#
    )
    .execute(conn)
    .await?;
    Ok(queued.rows_affected())
}
