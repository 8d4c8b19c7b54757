//! Answers given to keyed requests. An answer is written by the same statement as the effect it answers for, so a repeated
//! request finds either both or neither.

use std::time::Duration;

use domain::ids::IdempotencyKey;
use serde_json::Value;
use sqlx::{PgExecutor, postgres::types::PgInterval};

use crate::StoreError;

/// A request that carries a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyedRequest {
    /// Whose key it is: keys are unique per principal.
    pub principal: String,
    /// As the caller chose it.
    pub key: IdempotencyKey,
    /// SHA-256 over method, route, path and canonical body.
    pub fingerprint: [u8; 32],
}

/// What the first request was answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredAnswer {
    /// HTTP status, 200 to 599.
    pub status: u16,
    /// The body.
    pub body: Value,
}

/// What a claim found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// The key is ours until the time is over: call the provider, then answer through a unit of work.
    Taken,
    /// Another run holds the key.
    InProgress,
    /// The request was answered before.
    Answered(StoredAnswer),
    /// The key was used with another request.
    KeyReused,
}

/// Claims a key before a provider is called, for `hold` by the database's clock. Only routes that call a provider claim; all others
/// write their answer with their effect. A claim whose time is over is taken over, so a crashed run never blocks its key for good.
///
/// # Errors
/// [`StoreError::Unavailable`] and the like.
pub async fn claim<'e>(
    executor: impl PgExecutor<'e> + Copy,
    request: &KeyedRequest,
    hold: Duration,
) -> Result<Claim, StoreError> {
    let hold = PgInterval::try_from(hold).map_err(|reason| StoreError::corrupt("a claim", reason))?;
    let taken = sqlx::query!(
        "insert into idempotency_keys (principal, key, fingerprint, claimed_until)
        values ($1, $2, $3, clock_timestamp() + $4)
        on conflict (principal, key) do update set claimed_until = excluded.claimed_until
        where idempotency_keys.status is null and idempotency_keys.fingerprint = excluded.fingerprint
            and idempotency_keys.claimed_until <= clock_timestamp()",
        request.principal,
        request.key.as_str(),
        request.fingerprint.as_slice(),
        hold
    )
    .execute(executor)
    .await?;
    if taken.rows_affected() == 1 {
        return Ok(Claim::Taken);
    }
    let row = sqlx::query!(
        "select fingerprint, status, answer from idempotency_keys where principal = $1 and key = $2",
        request.principal,
        request.key.as_str()
    )
    .fetch_optional(executor)
    .await?;
    Ok(match row {
        Some(row) if row.fingerprint != request.fingerprint => Claim::KeyReused,
        Some(row) => match (row.status.map(u16::try_from), row.answer) {
            (Some(Ok(status)), Some(body)) => Claim::Answered(StoredAnswer { status, body }),
            _ => Claim::InProgress,
        },
        // Released between the two statements: as good as held by another run, which the caller tries again later.
        None => Claim::InProgress,
    })
}

/// Gives a claim back without an answer, so that the caller may try again at once (the provider was not reached).
///
/// # Errors
/// [`StoreError::Unavailable`] and the like.
pub async fn release(executor: impl PgExecutor<'_>, request: &KeyedRequest) -> Result<(), StoreError> {
    sqlx::query!(
        "delete from idempotency_keys where principal = $1 and key = $2 and fingerprint = $3 and status is null",
        request.principal,
        request.key.as_str(),
        request.fingerprint.as_slice()
    )
    .execute(executor)
    .await?;
    Ok(())
}
