//! Calls of payment providers, stored before they are acted upon and before they are answered.

use domain::time::Timestamp;
use ring::digest::{SHA256, digest};
use serde_json::Value;
use sqlx::PgPool;

use crate::StoreError;

/// Tries of one call before only a person can have it processed again.
pub const MAX_ATTEMPTS: i32 = 12;

/// SHA-256 of a body.
pub fn body_digest(body: &[u8]) -> [u8; 32] {
    let mut bytes = [0; 32];
    for (to, from) in bytes.iter_mut().zip(digest(&SHA256, body).as_ref()) {
        *to = *from;
    }
    bytes
}

/// A call as it came in.
#[derive(Clone, Copy, Debug)]
pub struct NewWebhook<'a> {
    /// Slug of the provider.
    pub provider: &'a str,
    /// Unique per provider; `invalid:<digest>` for a call whose signature is not valid.
    pub event_key: &'a str,
    /// What the check of its raw bytes said.
    pub signature_valid: bool,
    /// Digest of the raw bytes.
    pub body_sha256: &'a [u8; 32],
    /// Absent for a call whose signature is not valid: anybody can send those, nobody may fill the disk with them.
    pub raw_body: Option<&'a [u8]>,
    /// What the call said, in our words.
    pub payment: Option<&'a Value>,
    /// When it came in: a payment is in time, or late, by this, however much later it is processed.
    pub received_at: Timestamp,
}

/// Where a call stands after it was stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Intake {
    /// The stored call.
    pub id: i64,
    /// `received`, `processed`, `ignored` or `failed`.
    pub status: String,
    /// True when it was not known before.
    pub first: bool,
}

/// A stored call, without its body.
#[derive(Clone, Debug, PartialEq)]
pub struct WebhookRow {
    /// The stored call.
    pub id: i64,
    /// Slug of the provider.
    pub provider: String,
    /// Unique per provider.
    pub event_key: String,
    /// `received`, `processed`, `ignored` or `failed`.
    pub status: String,
    /// Why it failed.
    pub code: Option<String>,
    /// Tries so far.
    pub attempts: i32,
    /// How often it came in.
    pub delivery_count: i32,
    /// What it said, in our words.
    pub payment: Option<Value>,
    /// When it came in first.
    pub received_at: Timestamp,
    /// When it reached its end.
    pub processed_at: Option<Timestamp>,
}

/// Stores a call, or counts it where it is stored already. The re-processing pass leaves a new one alone for half a minute, because
/// whoever stored it processes it at once.
pub async fn record(pool: &PgPool, new: NewWebhook<'_>) -> Result<Intake, StoreError> {
    let row = sqlx::query_as!(
        Intake,
        r#"insert into webhook_events
               (provider, event_key, signature_valid, body_sha256, raw_body, payment, received_at, status, code, next_try_at)
           values ($1, $2, $3, $4, $5, $6, $7, case when $3 then 'received' else 'failed' end,
                   case when $3 then null else 'signature_invalid' end, clock_timestamp() + interval '30 seconds')
           on conflict (provider, event_key) do update set delivery_count = webhook_events.delivery_count + 1
           returning id, status, (delivery_count = 1) as "first!""#,
        new.provider,
        new.event_key,
        new.signature_valid,
        &new.body_sha256[..],
        new.raw_body,
        new.payment,
        new.received_at,
    )
    .fetch_one(pool)
    .await?;
    Ok(row)
}

/// Keeps the digest of a call whose signature is not valid, or counts it where it is kept already. At most `most` new ones of a provider
/// are kept of one minute by `at`, and each only for a day; `false` when it was not kept.
pub async fn record_forgery(
    pool: &PgPool,
    provider: &str,
    body_sha256: &[u8; 32],
    at: Timestamp,
    most: u32,
) -> Result<bool, StoreError> {
    let kept = sqlx::query_scalar!(
        r#"with known as (
             update webhook_events set delivery_count = delivery_count + 1
             where provider = $1 and event_key = 'invalid:' || encode($2::bytea, 'hex') returning id),
           added as (
             insert into webhook_events (provider, event_key, signature_valid, body_sha256, received_at, status, code, retain_until)
             select $1, 'invalid:' || encode($2::bytea, 'hex'), false, $2::bytea, $3::timestamptz, 'failed', 'signature_invalid',
                    $3::timestamptz + interval '1 day'
             where not exists (select from known)
               and (select count(*) from webhook_events
                    where provider = $1 and not signature_valid
                      and received_at >= date_trunc('minute', $3::timestamptz)
                      and received_at < date_trunc('minute', $3::timestamptz) + interval '1 minute') < $4
             on conflict (provider, event_key) do nothing returning id)
           select exists (select from known union all select from added) as "kept!""#,
        provider,
        &body_sha256[..],
        at,
        i64::from(most)
    )
    .fetch_one(pool)
    .await?;
    Ok(kept)
}

/// One stored call whose signature was valid.
pub async fn webhook(pool: &PgPool, id: i64) -> Result<Option<WebhookRow>, StoreError> {
    let row = sqlx::query_as!(
        WebhookRow,
        "select id, provider, event_key, status, code, attempts, delivery_count, payment, received_at, processed_at
         from webhook_events where id = $1 and signature_valid",
        id
    )
    .fetch_optional(pool)
    .await?;
    Ok(row)
}

/// Ends the processing of a call. `failed` plans the next try, later each time; after [`MAX_ATTEMPTS`] there is none.
/// A call that was processed stays processed.
pub async fn finish(pool: &PgPool, id: i64, status: &str, code: Option<&str>) -> Result<(), StoreError> {
    sqlx::query!(
        "update webhook_events
         set status = $2, code = $3,
             attempts = attempts + 1,
             processed_at = case when $2 in ('processed', 'ignored') then clock_timestamp() end,
             next_try_at = case when attempts + 1 >= $4 then 'infinity'
                                else clock_timestamp() + interval '30 seconds' * power(2, least(attempts, 10)) end
         where id = $1 and status in ('received', 'failed')",
        id,
        status,
        code,
        MAX_ATTEMPTS,
    )
    .execute(pool)
    .await?;
    Ok(())
}

/// Takes calls that are due to be processed again, longest due first, each out of reach of other workers for a minute.
pub async fn claim_due(pool: &PgPool, limit: i64) -> Result<Vec<i64>, StoreError> {
    let ids = sqlx::query_scalar!(
        "update webhook_events set next_try_at = clock_timestamp() + interval '1 minute'
         where id in (
             select id from webhook_events
             where status in ('received', 'failed') and signature_valid and hint is null and next_try_at <= clock_timestamp()
             order by next_try_at, id limit $1
             for update skip locked)
         returning id",
        limit
    )
    .fetch_all(pool)
    .await?;
    Ok(ids)
}
