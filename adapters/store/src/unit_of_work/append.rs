//! The one statement that writes the log.
//!
//! The transaction's id is drawn before any position: `x` is materialised and referenced, because the fence of the readers rests on that
//! order. The answer's CTE stands last: side CTEs run in reverse order, so a repeated key is found before any other constraint.
//!
//! A statement pays for every table that it names, whether there are rows for it or not (naming four more costs more than writing an
//! event), so the statement has levels: each names what the one before it names, and more.

#![expect(
    clippy::as_conversions,
    reason = "the query macro reads a cast as the type of a parameter"
)]

use sqlx::PgConnection;
use uuid::Uuid;

use super::{
    columns::{Answer, Deliveries, Events, Operations, Outbox},
    work::Work,
};
use crate::StoreError;

/// The statement, level by level. `$1` to `$8` are the events, then come the answer, the outbox and operations, the deliveries.
macro_rules! statement {
    (events: $connection:expr, $work:expr, [$($cte:literal)*], [$($bind:expr),*]) => {{
        let events = Events::of(&$work.buffer.events);
        sqlx::query_scalar!(
            "with x as materialized (select pg_current_xact_id() as xid),
            e as (
                insert into events (aggregate_type, aggregate_id, sequence, event_type, event_version, payload, metadata, xid, hash)
                select u.t, u.a, u.s, u.et, u.ev, u.p::jsonb, $1::text::jsonb, x.xid, u.h
                from x, unnest($2::text[], $3::text[], $4::bigint[], $5::text[], $6::text[], $7::text[], $8::bytea[])
                    with ordinality u (t, a, s, et, ev, p, h, o)
                order by u.o
                returning position, aggregate_type, aggregate_id, sequence
            )"
            $(+ $cte)*
            + " select max(position) from e",
            $work.metadata_text,
            &events.types as &[&str],
            &events.ids as &[&str],
            &events.sequences,
            &events.event_types as &[&str],
            &events.versions as &[&str],
            &events.payloads as &[&str],
            &events.hashes as &[&[u8]],
            $($bind),*
        )
        .fetch_one($connection)
        .await
    }};
    (answer: $connection:expr, $work:expr, [$($cte:literal)*], [$($bind:expr),*]) => {{
        let answer = Answer::of(&$work.buffer);
        statement!(
            events: $connection,
            $work,
            [$($cte)*
            // A claim is answered once: a second answer violates the range, which takes the whole statement back.
            ", k as (
                insert into idempotency_keys (principal, key, fingerprint, status, answer)
                select $9::text, $10, $11, $12, $13 where $9 is not null
                on conflict (principal, key) do update set
                    status = case when idempotency_keys.status is null then excluded.status else -1 end,
                    answer = excluded.answer, claimed_until = null
            )"],
            [answer.principal, answer.key, answer.fingerprint, answer.status, answer.body $(, $bind)*]
        )
    }};
    (side rows: $connection:expr, $work:expr, [$($cte:literal)*], [$($bind:expr),*]) => {{
        let (outbox, operations) = (Outbox::of($work), Operations::of(&$work.buffer));
        statement!(
            answer: $connection,
            $work,
            [", o as (
                insert into outbox (topic, stream, position, payload, headers)
                select u.topic, u.t || '/' || u.a, e.position, u.p::jsonb, $14
                from unnest($15::text[], $16::text[], $17::bigint[], $18::text[], $19::text[])
                    with ordinality u (t, a, s, topic, p, o)
                left join e on e.aggregate_type = u.t and e.aggregate_id = u.a and e.sequence = u.s
                order by u.o
            ),
            f as (
                insert into fulfillment_operations (operation_id, entitlement_id, subscription_id, order_id, operation, version,
                    idempotency_key, correlation_id, effective_at, next_attempt_at)
                select u.*, coalesce(u.effective, clock_timestamp())
                from unnest($20::uuid[], $21::uuid[], $22::uuid[], $23::uuid[], $24::text[], $25::bigint[], $26::text[],
                    $27::text[], $28::timestamptz[])
                    u (id, entitlement, subscription, ord, kind, version, key, correlation, effective)
            )"
            $($cte)*],
            [
                outbox.headers, &outbox.types as &[&str], &outbox.ids as &[&str], &outbox.sequences,
                &outbox.topics as &[&str], &outbox.payloads as &[&str], &operations.ids, &operations.entitlements,
                &operations.subscriptions, &operations.orders as &[Option<Uuid>], &operations.kinds as &[&str],
                &operations.versions, &operations.keys as &[&str], &operations.correlations as &[&str],
                &operations.effective as &[Option<domain::time::Timestamp>] $(, $bind)*
            ]
        )
    }};
}

/// Writes everything that was buffered; the highest position written, if any.
pub(super) async fn append(connection: &mut PgConnection, work: &mut Work) -> Result<Option<i64>, sqlx::Error> {
    work.buffer.sort();
    let buffer = &work.buffer;
    if !buffer.deliveries.is_empty() {
        with_deliveries(connection, work).await
    } else if !(buffer.outbox.is_empty() && buffer.operations.is_empty()) {
        with_side_rows(connection, work).await
    } else if buffer.answer.is_some() {
        with_answer(connection, work).await
    } else if let [_] = buffer.events.as_slice() {
        one_event(connection, work).await
    } else {
        statement!(events: connection, work, [], [])
    }
}

/// The smallest level: no arrays, no CTE to read back.
async fn one_event(connection: &mut PgConnection, work: &Work) -> Result<Option<i64>, sqlx::Error> {
    let Some(event) = work.buffer.events.first() else {
        return Ok(None);
    };
    sqlx::query_scalar!(
        "with x as materialized (select pg_current_xact_id() as xid)
        insert into events (aggregate_type, aggregate_id, sequence, event_type, event_version, payload, metadata, xid, hash)
        select $2::text, $3::text, $4::bigint, $5::text, $6::text, $7::text::jsonb, $1::text::jsonb, x.xid, $8::bytea from x
        returning position",
        work.metadata_text,
        event.aggregate_type,
        event.aggregate_id,
        event.sequence,
        event.event_type,
        event.event_version,
        event.payload,
        event.hash.as_slice(),
    )
    .fetch_one(connection)
    .await
    .map(Some)
}

/// Events and an answer: most requests.
async fn with_answer(connection: &mut PgConnection, work: &Work) -> Result<Option<i64>, sqlx::Error> {
    statement!(answer: connection, work, [], [])
}

/// Outbox rows and operations too: a settlement of a plan.
async fn with_side_rows(connection: &mut PgConnection, work: &Work) -> Result<Option<i64>, sqlx::Error> {
    statement!(side rows: connection, work, [], [])
}

/// Everything: a settlement of goods.
async fn with_deliveries(connection: &mut PgConnection, work: &Work) -> Result<Option<i64>, sqlx::Error> {
    let deliveries = Deliveries::of(&work.buffer.deliveries);
    statement!(
        side rows: connection,
        work,
        [", d as (
            insert into goods_deliveries (order_id, provider, correlation_id)
            select u.* from unnest($29::uuid[], $30::text[], $31::text[]) u (ord, provider, correlation)
        )"],
        [&deliveries.orders, &deliveries.providers as &[&str], &deliveries.correlations as &[&str]]
    )
}

/// Refuses what the database could only refuse with a vaguer error.
pub(super) fn check(work: &Work) -> Result<(), StoreError> {
    match &work.buffer.answer {
        Some((_, answer)) if !(200..600).contains(&answer.status) => Err(StoreError::corrupt(
            "an answer to store",
            format!("status {} is no answer", answer.status),
        )),
        Some((_, answer)) => crate::codec::canonical(&answer.body).map(drop),
        None => Ok(()),
    }
}
