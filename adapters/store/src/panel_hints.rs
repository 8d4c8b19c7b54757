//! Webhooks of the panel. They are hints: a row says that somebody's user may have changed, and never how.
//!
//! They stand beside the calls of payment providers, whose table has everything that they need, but for the body: that one holds the user's
//! keys and links and is not stored.

use std::time::Duration;

use chrono::{DateTime, Utc};
use serde_json::Value;
use sqlx::PgPool;

use crate::{StoreError, webhooks::Intake};

/// As which sender they are stored.
pub const PANEL: &str = "remnawave";

/// An authentic webhook as it came in.
#[derive(Clone, Copy, Debug)]
pub struct NewHint<'a> {
    /// Unique.
    pub event_key: &'a str,
    /// Digest of the raw bytes.
    pub body_sha256: &'a [u8; 32],
    /// {event, remoteUserId, sentAt}; absent where nothing is to be done.
    pub hint: Option<&'a Value>,
    /// Why nothing is to be done.
    pub code: Option<&'a str>,
    /// When it came in, by the clock that looks at the panel are dated by.
    pub received_at: DateTime<Utc>,
}

/// A stored hint that waits.
#[derive(Clone, Debug, PartialEq)]
pub struct HintRow {
    /// The stored webhook.
    pub id: i64,
    /// {event, remoteUserId, sentAt}.
    pub hint: Value,
    /// When it came in.
    pub received_at: DateTime<Utc>,
}

/// Stores a webhook, or counts it where it is stored already. The re-processing pass leaves a new one alone for half a minute, because
/// whoever stored it processes it at once. Kept for three days: long after that a repeat is stale by its own time.
///
/// # Errors
/// [`StoreError`] when the statement fails.
pub async fn record(pool: &PgPool, new: NewHint<'_>) -> Result<Intake, StoreError> {
    Ok(sqlx::query_as!(
        Intake,
        r#"insert into webhook_events
               (provider, event_key, signature_valid, body_sha256, hint, code, received_at, status, processed_at, next_try_at, retain_until)
           values ($1, $2, $3, $4, $5, $6, $7,
                   case when not $3 then 'failed' when $6::text is null then 'received' else 'ignored' end,
                   case when $3 and $6::text is not null then clock_timestamp() end,
                   clock_timestamp() + interval '30 seconds', clock_timestamp() + interval '3 days')
           on conflict (provider, event_key) do update set delivery_count = webhook_events.delivery_count + 1
           returning id, status, (delivery_count = 1) as "first!""#,
        PANEL,
        new.event_key,
        true,
        &new.body_sha256[..],
        new.hint,
        new.code,
        new.received_at,
    )
    .fetch_one(pool)
    .await?)
}

/// One stored hint that nothing was done about yet.
///
/// # Errors
/// [`StoreError`] when the statement fails.
pub async fn waiting(pool: &PgPool, id: i64) -> Result<Option<HintRow>, StoreError> {
    Ok(sqlx::query_as!(
        HintRow,
        r#"select id, hint as "hint!", received_at from webhook_events
           where id = $1 and signature_valid and hint is not null and status in ('received', 'failed')"#,
        id
    )
    .fetch_optional(pool)
    .await?)
}

/// Has a hint looked at again after `delay`, however often that was done before.
///
/// # Errors
/// [`StoreError`] when the statement fails.
pub async fn defer(pool: &PgPool, id: i64, delay: Duration) -> Result<(), StoreError> {
    sqlx::query!(
        "update webhook_events set next_try_at = clock_timestamp() + make_interval(secs => $2)
         where id = $1 and status in ('received', 'failed')",
        id,
        delay.as_secs_f64()
    )
    .execute(pool)
    .await?;
    Ok(())
}

/// Takes hints that are due, longest due first, each out of reach of other workers for a minute.
///
/// # Errors
/// [`StoreError`] when the statement fails.
pub async fn claim_due(pool: &PgPool, limit: i64) -> Result<Vec<i64>, StoreError> {
    Ok(sqlx::query_scalar!(
        "update webhook_events set next_try_at = clock_timestamp() + interval '1 minute'
         where id in (
             select id from webhook_events
             where status in ('received', 'failed') and signature_valid and hint is not null
               and next_try_at <= clock_timestamp()
             order by next_try_at, id limit $1
             for update skip locked)
         returning id",
        limit
    )
    .fetch_all(pool)
    .await?)
}

/// What came from the panel lately.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lately {
    /// Authentic ones.
    pub authentic: i64,
    /// Of those: of another time, by our clock.
    pub stale: i64,
    /// With a signature that is not valid.
    pub forged: i64,
}

/// Counts of the last day.
///
/// # Errors
/// [`StoreError`] when the statement fails.
pub async fn lately(pool: &PgPool) -> Result<Lately, StoreError> {
    Ok(sqlx::query_as!(
        Lately,
        r#"select count(*) filter (where signature_valid) as "authentic!",
                  count(*) filter (where code = 'webhook_stale') as "stale!",
                  count(*) filter (where not signature_valid) as "forged!"
           from webhook_events where provider = $1 and received_at > clock_timestamp() - interval '1 day'"#,
        PANEL
    )
    .fetch_one(pool)
    .await?)
}
