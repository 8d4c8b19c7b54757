//! Keys of requests that must call a provider: claimed before the call, answered after it, taken over when the claim runs out.
//!
//! Requests that call nobody need no claim: their answer is part of the statement that has the effect.

use std::time::Duration;

use ring::digest::{SHA256, digest};
use serde::Serialize;
use sqlx::{PgConnection, PgPool};

use domain::ids::IdempotencyKey;

use crate::{KeyedRequest, StoreError, StoredAnswer, codec::canonical};

impl KeyedRequest {
    /// A keyed request to `route` (method and path, as called) with a body. Bodies that mean the same have the same fingerprint: it is
    /// taken over RFC 8785 JSON.
    ///
    /// # Errors
    /// [`StoreError::Unstorable`] for a body with U+0000, [`StoreError::Corrupt`] for one that is no JSON.
    pub fn new(
        principal: impl Into<String>,
        key: IdempotencyKey,
        route: &str,
        body: &impl Serialize,
    ) -> Result<Self, StoreError> {
        let text = canonical(&(route, body))?;
        let mut fingerprint = [0; 32];
        for (to, from) in fingerprint.iter_mut().zip(digest(&SHA256, text.as_bytes()).as_ref()) {
            *to = *from;
        }
        Ok(Self {
            principal: principal.into(),
            key,
            fingerprint,
        })
    }
}

/// Claims a key, or takes over a claim that ran out. `false` when somebody else holds it or it was answered.
pub async fn claim_in(conn: &mut PgConnection, key: &KeyedRequest, hold: Duration) -> Result<bool, StoreError> {
    let done = sqlx::query!(
        "insert into idempotency_keys as known (principal, key, fingerprint, claimed_until)
         values ($1, $2, $3, clock_timestamp() + make_interval(secs => $4::float8))
         on conflict (principal, key) do update set claimed_until = excluded.claimed_until
         where known.status is null and known.claimed_until <= clock_timestamp()
               and known.fingerprint = excluded.fingerprint",
        key.principal,
        key.key.as_str(),
        &key.fingerprint[..],
        hold.as_secs_f64(),
    )
    .execute(conn)
    .await?;
    Ok(done.rows_affected() == 1)
}

/// Answers a request for good, claimed or not. An answer that is there stays.
pub async fn answer_claim_in(
    conn: &mut PgConnection,
    key: &KeyedRequest,
    answer: &StoredAnswer,
) -> Result<(), StoreError> {
    let status = i16::try_from(answer.status).map_err(|reason| StoreError::corrupt("an answer to store", reason))?;
    sqlx::query!(
        "insert into idempotency_keys as known (principal, key, fingerprint, status, answer)
         values ($1, $2, $3, $4, $5)
         on conflict (principal, key) do update
         set status = excluded.status, answer = excluded.answer, claimed_until = null
         where known.status is null",
        key.principal,
        key.key.as_str(),
        &key.fingerprint[..],
        status,
        answer.body,
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// As [`answer_claim_in`], in a statement of its own.
pub async fn answer_claim(pool: &PgPool, key: &KeyedRequest, answer: &StoredAnswer) -> Result<(), StoreError> {
    let mut conn = pool.acquire().await?;
    answer_claim_in(&mut conn, key, answer).await
}

/// Lets a claim go without an answer, so that a repeat need not wait for its end.
pub async fn release_claim(pool: &PgPool, key: &KeyedRequest) -> Result<(), StoreError> {
    sqlx::query!(
        "update idempotency_keys set claimed_until = clock_timestamp() where principal = $1 and key = $2 and status is null",
        key.principal,
        key.key.as_str(),
    )
    .execute(pool)
    .await?;
    Ok(())
}
