//! Payment intents: how a webhook, a poll or a person finds the order that money is for. What happened to the order is in its stream.

use std::time::Duration;

use domain::time::Timestamp;
use sqlx::{PgConnection, PgExecutor, PgPool};
use uuid::Uuid;

use crate::StoreError;

/// One request for money.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IntentRow {
    /// The intent.
    pub intent_id: Uuid,
    /// The order that it pays for.
    pub order_id: Uuid,
    /// The entitlement that settling grants or extends; absent for goods.
    pub entitlement_id: Option<Uuid>,
    /// Slug of the provider.
    pub provider: String,
    /// `ports::payments::Status` as text.
    pub status: String,
    /// In minor units.
    pub amount_minor: i64,
    /// Three letters.
    pub currency: String,
    /// The provider's id of the payment; absent until it answered.
    pub provider_reference: Option<String>,
    /// Where the customer pays.
    pub checkout_url: Option<String>,
    /// By the database.
    pub created_at: Timestamp,
}

/// What is stored before a provider is called. Its status is `processing` until the provider answered.
#[derive(Clone, Debug)]
pub struct NewIntent<'a> {
    /// The intent.
    pub intent_id: Uuid,
    /// The order that it pays for.
    pub order_id: Uuid,
    /// The entitlement that settling grants or extends; absent for goods.
    pub entitlement_id: Option<Uuid>,
    /// Slug of the provider.
    pub provider: &'a str,
    /// In minor units.
    pub amount_minor: i64,
    /// Three letters.
    pub currency: &'a str,
    /// Unique per provider.
    pub idempotency_key: &'a str,
}

/// What a provider answered about an intent.
#[derive(Clone, Copy, Debug)]
pub struct IntentAnswer<'a> {
    /// `ports::payments::Status` as text.
    pub status: &'a str,
    /// The provider's id, where it is news.
    pub reference: Option<&'a str>,
    /// Where the customer pays, where it is news.
    pub checkout_url: Option<&'a str>,
}

/// Stores an intent before its provider is called, with the call taken (see [`take_call_in`]). `false` when one of that provider and
/// key is there already.
pub async fn insert_intent_in(
    conn: &mut PgConnection,
    new: &NewIntent<'_>,
    hold: Duration,
) -> Result<bool, StoreError> {
    let done = sqlx::query!(
        "insert into payment_intents
             (intent_id, order_id, entitlement_id, provider, status, amount_minor, currency, idempotency_key, next_poll_at,
              calling_until)
         values ($1, $2, $3, $4, 'processing', $5, $6, $7, clock_timestamp() + interval '1 minute',
                 clock_timestamp() + make_interval(secs => $8::float8))
         on conflict (provider, idempotency_key) do nothing",
        new.intent_id,
        new.order_id,
        new.entitlement_id,
        new.provider,
        new.amount_minor,
        new.currency,
        new.idempotency_key,
        hold.as_secs_f64(),
    )
    .execute(conn)
    .await?;
    Ok(done.rows_affected() == 1)
}

/// Takes the call that creates the payment at its provider, for a while. `false` when somebody else has it, or it was answered:
/// two creating calls at once could make two payments.
pub async fn take_call_in(conn: &mut PgConnection, intent_id: Uuid, hold: Duration) -> Result<bool, StoreError> {
    let done = sqlx::query!(
        "update payment_intents set calling_until = clock_timestamp() + make_interval(secs => $2::float8)
         where intent_id = $1 and provider_reference is null
               and (calling_until is null or calling_until <= clock_timestamp())",
        intent_id,
        hold.as_secs_f64(),
    )
    .execute(conn)
    .await?;
    Ok(done.rows_affected() == 1)
}

/// Gives the call back: it ended without an answer that could be kept.
pub async fn release_call(pool: &PgPool, intent_id: Uuid) -> Result<(), StoreError> {
    sqlx::query!(
        "update payment_intents set calling_until = null where intent_id = $1",
        intent_id
    )
    .execute(pool)
    .await?;
    Ok(())
}

/// One intent by its id.
pub async fn intent(pool: &PgPool, intent_id: Uuid) -> Result<Option<IntentRow>, StoreError> {
    let row = sqlx::query_as!(
        IntentRow,
        "select intent_id, order_id, entitlement_id, provider, status, amount_minor, currency, provider_reference,
                checkout_url, created_at
         from payment_intents where intent_id = $1",
        intent_id
    )
    .fetch_optional(pool)
    .await?;
    Ok(row)
}

/// The intent that a provider's reference belongs to.
pub async fn intent_by_reference(
    pool: &PgPool,
    provider: &str,
    reference: &str,
) -> Result<Option<IntentRow>, StoreError> {
    let row = sqlx::query_as!(
        IntentRow,
        "select intent_id, order_id, entitlement_id, provider, status, amount_minor, currency, provider_reference,
                checkout_url, created_at
         from payment_intents where provider = $1 and provider_reference = $2",
        provider,
        reference
    )
    .fetch_optional(pool)
    .await?;
    Ok(row)
}

/// The intent of an order that a payment with an unknown reference can only belong to: asked for at this provider, never answered.
pub async fn unanswered_intent(pool: &PgPool, provider: &str, order_id: Uuid) -> Result<Option<IntentRow>, StoreError> {
    let row = sqlx::query_as!(
        IntentRow,
        "select intent_id, order_id, entitlement_id, provider, status, amount_minor, currency, provider_reference,
                checkout_url, created_at
         from payment_intents
         where provider = $1 and order_id = $2 and provider_reference is null
         order by created_at desc limit 1",
        provider,
        order_id
    )
    .fetch_optional(pool)
    .await?;
    Ok(row)
}

/// Intents of an order that may still bring money, oldest first.
pub async fn open_intents(on: impl PgExecutor<'_>, order_id: Uuid) -> Result<Vec<IntentRow>, StoreError> {
    let rows = sqlx::query_as!(
        IntentRow,
        "select intent_id, order_id, entitlement_id, provider, status, amount_minor, currency, provider_reference,
                checkout_url, created_at
         from payment_intents
         where order_id = $1 and status in ('pending', 'requires_action', 'processing')
         order by created_at",
        order_id
    )
    .fetch_all(on)
    .await?;
    Ok(rows)
}

/// Keeps what a provider said. A status that ended stays, unless money arrived after all; a reference, once known, stays.
pub async fn record_answer(pool: &PgPool, intent_id: Uuid, answer: IntentAnswer<'_>) -> Result<(), StoreError> {
    let mut conn = pool.acquire().await?;
    record_answer_in(&mut conn, intent_id, answer).await
}

/// As [`record_answer`], inside a transaction.
pub async fn record_answer_in(
    conn: &mut PgConnection,
    intent_id: Uuid,
    answer: IntentAnswer<'_>,
) -> Result<(), StoreError> {
    sqlx::query!(
        "update payment_intents
         set status = case when status in ('pending', 'requires_action', 'processing') or $2 = 'succeeded' then $2 else status end,
             provider_reference = coalesce(provider_reference, $3),
             checkout_url = coalesce($4, checkout_url),
             poll_failures = 0,
             calling_until = null,
             updated_at = clock_timestamp()
         where intent_id = $1",
        intent_id,
        answer.status,
        answer.reference,
        answer.checkout_url,
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Takes due intents of these providers for one poll each, longest due first, and puts their next turn off: a minute, doubled with
/// every failure in a row up to about an hour. So a provider that fails for ever does not keep others from their turn, and two workers
/// never take the same one.
pub async fn claim_polls(pool: &PgPool, providers: &[String], limit: i64) -> Result<Vec<IntentRow>, StoreError> {
    let rows = sqlx::query_as!(
        IntentRow,
        "update payment_intents
         set next_poll_at = clock_timestamp() + interval '1 minute' * power(2, least(poll_failures, 6))
         where intent_id in (
             select intent_id from payment_intents
             where status in ('pending', 'processing') and next_poll_at <= clock_timestamp() and provider = any($1)
             order by next_poll_at, intent_id limit $2
             for update skip locked)
         returning intent_id, order_id, entitlement_id, provider, status, amount_minor, currency, provider_reference,
                   checkout_url, created_at",
        providers,
        limit
    )
    .fetch_all(pool)
    .await?;
    Ok(rows)
}

/// Counts a poll that failed, so that the next one comes later.
pub async fn record_poll_failure(pool: &PgPool, intent_id: Uuid) -> Result<(), StoreError> {
    sqlx::query!(
        "update payment_intents
         set poll_failures = poll_failures + 1,
             next_poll_at = clock_timestamp() + interval '1 minute' * power(2, least(poll_failures + 1, 6))
         where intent_id = $1",
        intent_id
    )
    .execute(pool)
    .await?;
    Ok(())
}

/// A person's decision about a manual payment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecisionRow {
    /// The decision.
    pub decision_id: Uuid,
    /// `approved` or `rejected`.
    pub decision: String,
    /// When it was made.
    pub decided_at: Timestamp,
}

/// The decision about an intent, if there is one.
pub async fn manual_decision_in(conn: &mut PgConnection, intent_id: Uuid) -> Result<Option<DecisionRow>, StoreError> {
    let row = sqlx::query_as!(
        DecisionRow,
        "select decision_id, decision, decided_at from manual_decisions where intent_id = $1",
        intent_id
    )
    .fetch_optional(conn)
    .await?;
    Ok(row)
}

/// A decision to be stored.
#[derive(Clone, Copy, Debug)]
pub struct NewDecision<'a> {
    /// The decision.
    pub decision_id: Uuid,
    /// The intent.
    pub intent_id: Uuid,
    /// The money is there, or it is not.
    pub approved: bool,
    /// Who decided.
    pub operator_id: &'a str,
    /// Why.
    pub reason: &'a str,
    /// When.
    pub at: Timestamp,
}

/// Stores a decision. A second one for the intent is refused by `manual_decisions_intent_key`.
pub async fn insert_decision_in(conn: &mut PgConnection, new: NewDecision<'_>) -> Result<(), StoreError> {
    sqlx::query!(
        "insert into manual_decisions (decision_id, intent_id, decision, operator_id, reason, decided_at)
         values ($1, $2, $3, $4, $5, $6)",
        new.decision_id,
        new.intent_id,
        if new.approved { "approved" } else { "rejected" },
        new.operator_id,
        new.reason,
        new.at,
    )
    .execute(conn)
    .await?;
    Ok(())
}
