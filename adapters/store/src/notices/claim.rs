//! Leasing notices that may go out now. What may is decided by `domain::notices`; the rows it is decided on stay locked meanwhile.

use std::{collections::BTreeMap, time::Duration};

use chrono::{DateTime, Utc};
use domain::notices::{Candidate, Cap, Kind, Verdict, admit};
use serde_json::Value;
use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

use super::known;
use crate::{SideRows, StoreError};

/// How many may go out.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Rows looked at.
    pub batch: i64,
    /// Of each kind.
    pub cap: Cap,
    /// Requests a minute that the group takes.
    pub pace: u32,
    /// How long the lease lasts.
    pub lease: Duration,
}

/// A notice that is the caller's to send.
#[derive(Clone, Debug)]
pub struct Claimed {
    /// Its row.
    pub notice_id: i64,
    /// What it is about.
    pub kind: Kind,
    /// Ids, amounts and codes.
    pub payload: Value,
    /// When it was queued.
    pub created_at: DateTime<Utc>,
    /// Requests for it that count, so far.
    pub attempts: i32,
    /// Requests for it that nobody answered.
    pub unanswered: i32,
}

/// A notice that ended without being sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settled {
    /// What it was about.
    pub kind: Kind,
    /// `suppressed` or `failed`.
    pub status: &'static str,
    /// Why.
    pub code: &'static str,
}

struct Row {
    notice_id: i64,
    kind: String,
    payload: Value,
    created_at: DateTime<Utc>,
    age: f64,
    attempts: i32,
    unanswered: i32,
}

/// Leases what may go out, and ends what never will, in one short transaction.
///
/// Urgent kinds come first, so that a day of good sales does not keep a failure waiting.
///
/// # Errors
/// [`StoreError`] when a statement fails.
pub async fn claim(pool: &PgPool, token: Uuid, limits: &Limits) -> Result<(Vec<Claimed>, Vec<Settled>), StoreError> {
    let mut rows = SideRows::begin(pool).await?;
    let due = due_in(rows.conn(), limits.batch).await?;
    if due.is_empty() {
        rows.rollback().await;
        return Ok((Vec::new(), Vec::new()));
    }
    let mut claimed = Vec::with_capacity(due.len());
    let mut candidates = Vec::with_capacity(due.len());
    for row in due {
        let kind = known("a notice's kind", &row.kind)?;
        candidates.push(Candidate {
            kind,
            age: Duration::try_from_secs_f64(row.age).unwrap_or_default(),
            unanswered: row.unanswered,
        });
        claimed.push(Claimed {
            notice_id: row.notice_id,
            kind,
            payload: row.payload,
            created_at: row.created_at,
            attempts: row.attempts,
            unanswered: row.unanswered,
        });
    }
    let sent = sent_in(rows.conn(), limits.cap.window).await?;
    let budget = limits.pace.saturating_sub(requests_in(rows.conn()).await?);
    let mut sending = Vec::new();
    let mut settled = Vec::new();
    for (one, verdict) in claimed.into_iter().zip(admit(&candidates, &sent, limits.cap, budget)) {
        let (status, code) = match verdict {
            Verdict::Send => {
                sending.push(one);
                continue;
            }
            Verdict::Wait => continue,
            Verdict::Suppress(code) => ("suppressed", code),
            Verdict::Fail(code) => ("failed", code),
        };
        end_in(rows.conn(), &one, status, code).await?;
        settled.push(Settled {
            kind: one.kind,
            status,
            code,
        });
    }
    lease_in(rows.conn(), token, limits.lease, &sending).await?;
    rows.commit().await?;
    Ok((sending, settled))
}

/// What is due and nobody's. One that was being sent when its lease ended has one more request that nobody answered.
async fn due_in(conn: &mut PgConnection, batch: i64) -> Result<Vec<Row>, StoreError> {
    Ok(sqlx::query_as!(
        Row,
        r#"select notice_id, kind, payload, created_at, attempts,
                  unanswered + case when status = 'sending' then 1 else 0 end as "unanswered!",
                  greatest(extract(epoch from clock_timestamp() - queued_at), 0)::float8 as "age!"
             from operator_notices
            where status in ('pending', 'sending') and next_attempt_at <= clock_timestamp()
              and (leased_until is null or leased_until <= clock_timestamp())
            order by kind not in ('fulfillment_failure', 'incident', 'security', 'notice_test'), created_at, notice_id
            limit $1 for update skip locked"#,
        batch
    )
    .fetch_all(conn)
    .await?)
}

async fn sent_in(conn: &mut PgConnection, window: Duration) -> Result<BTreeMap<Kind, u32>, StoreError> {
    let rows = sqlx::query!(
        r#"select kind as "kind!", count(*) as "count!" from
             (select kind from operator_notices where status = 'sent' and sent_at > clock_timestamp() - make_interval(secs => $1)
              union all
              select kind from operator_notices where status in ('pending', 'sending') and leased_until > clock_timestamp()) counted
           group by kind"#,
        window.as_secs_f64()
    )
    .fetch_all(conn)
    .await?;
    rows.into_iter()
        .map(|row| {
            let kind = known("a notice's kind", &row.kind)?;
            Ok((kind, u32::try_from(row.count).unwrap_or(u32::MAX)))
        })
        .collect()
}

async fn requests_in(conn: &mut PgConnection) -> Result<u32, StoreError> {
    let count = sqlx::query_scalar!(
        r#"select count(*) as "count!" from operator_notices where attempted_at > clock_timestamp() - interval '1 minute'"#
    )
    .fetch_one(conn)
    .await?;
    Ok(u32::try_from(count).unwrap_or(u32::MAX))
}

async fn end_in(conn: &mut PgConnection, one: &Claimed, status: &str, code: &str) -> Result<(), StoreError> {
    sqlx::query!(
        r#"update operator_notices set status = $2, error_code = $3, unanswered = $4, lease_token = null, leased_until = null
            where notice_id = $1"#,
        one.notice_id,
        status,
        code,
        one.unanswered
    )
    .execute(conn)
    .await?;
    Ok(())
}

async fn lease_in(conn: &mut PgConnection, token: Uuid, span: Duration, sending: &[Claimed]) -> Result<(), StoreError> {
    let ids: Vec<i64> = sending.iter().map(|one| one.notice_id).collect();
    sqlx::query!(
        r#"update operator_notices
              set unanswered = unanswered + case when status = 'sending' then 1 else 0 end, status = 'pending',
                  lease_token = $2, leased_until = clock_timestamp() + make_interval(secs => $3)
            where notice_id = any($1)"#,
        &ids,
        token,
        span.as_secs_f64()
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Lets go of everything that was leased under a token and not sent.
///
/// # Errors
/// [`StoreError`] when the statement fails.
pub async fn give_back(pool: &PgPool, token: Uuid) -> Result<(), StoreError> {
    sqlx::query!(
        "update operator_notices set lease_token = null, leased_until = null where lease_token = $1 and status = 'pending'",
        token
    )
    .execute(pool)
    .await?;
    Ok(())
}
