//! The one statement that writes the log.
//!
//! The transaction's id is drawn before any position: `x` is materialised and referenced, because the fence of the readers rests on that
//! order. The answer's CTE stands last: side CTEs run in reverse order, so a repeated key is found before any other constraint.

#![expect(
    clippy::as_conversions,
    reason = "the query macro reads a cast as the type of a parameter"
)]

use serde_json::Value;
use sqlx::PgConnection;
use uuid::Uuid;

use super::{buffer::Buffer, work::Work};
use crate::StoreError;

/// Columns of the side rows, one element a row.
#[derive(Default)]
struct Operations<'a> {
    ids: Vec<Uuid>,
    entitlements: Vec<Uuid>,
    subscriptions: Vec<Uuid>,
    orders: Vec<Option<Uuid>>,
    kinds: Vec<&'a str>,
    versions: Vec<i64>,
    keys: Vec<&'a str>,
    correlations: Vec<&'a str>,
    effective: Vec<Option<domain::time::Timestamp>>,
}

impl<'a> Operations<'a> {
    fn of(buffer: &'a Buffer) -> Self {
        let mut columns = Self::default();
        for row in &buffer.operations {
            columns.ids.push(row.operation_id.as_uuid());
            columns.entitlements.push(row.entitlement_id.as_uuid());
            columns.subscriptions.push(row.subscription_id.as_uuid());
            columns.orders.push(row.order_id.map(domain::ids::OrderId::as_uuid));
            columns.kinds.push(row.operation.as_str());
            columns.versions.push(row.version);
            columns.keys.push(&row.idempotency_key);
            columns.correlations.push(&row.correlation_id);
            columns.effective.push(row.effective_at);
        }
        columns
    }
}

/// What an outbox row tells beside its payload; never part of the arguments of a unique job.
fn headers(work: &Work) -> Value {
    let mut headers = serde_json::Map::new();
    headers.insert(
        "correlationId".to_owned(),
        Value::from(work.metadata.correlation_id.as_str()),
    );
    if let Some(cause) = &work.metadata.causation_id {
        headers.insert("causationId".to_owned(), Value::from(cause.as_str()));
    }
    Value::Object(headers)
}

#[expect(clippy::too_many_lines, reason = "one statement; its parameters read best beside it")]
/// Writes everything that was buffered; the highest position written, if any.
pub(super) async fn append(connection: &mut PgConnection, work: &mut Work) -> Result<Option<i64>, sqlx::Error> {
    work.buffer.sort();
    let headers = headers(work);
    let Buffer {
        events,
        outbox,
        deliveries,
        answer,
        ..
    } = &work.buffer;
    let operations = Operations::of(&work.buffer);
    let answered = answer.as_ref();

    sqlx::query_scalar!(
        r#"
        with x as materialized (select pg_current_xact_id() as xid),
        e as (
            insert into events (aggregate_type, aggregate_id, sequence, event_type, event_version, payload, metadata, xid, hash)
            select u.t, u.a, u.s, u.et, u.ev, u.p::jsonb, $1::text::jsonb, x.xid, u.h
            from x, unnest($2::text[], $3::text[], $4::bigint[], $5::text[], $6::text[], $7::text[], $8::bytea[])
                with ordinality u (t, a, s, et, ev, p, h, o)
            order by u.o
            returning position, aggregate_type, aggregate_id, sequence
        ),
        o as (
            insert into outbox (topic, stream, position, payload, headers)
            select u.topic, u.t || '/' || u.a, e.position, u.p::jsonb, $9
            from unnest($10::text[], $11::text[], $12::bigint[], $13::text[], $14::text[])
                with ordinality u (t, a, s, topic, p, o)
            left join e on e.aggregate_type = u.t and e.aggregate_id = u.a and e.sequence = u.s
            order by u.o
        ),
        f as (
            insert into fulfillment_operations (operation_id, entitlement_id, subscription_id, order_id, operation, version,
                idempotency_key, correlation_id, effective_at, next_attempt_at)
            select u.*, coalesce(u.effective, clock_timestamp())
            from unnest($15::uuid[], $16::uuid[], $17::uuid[], $18::uuid[], $19::text[], $20::bigint[], $21::text[],
                $22::text[], $23::timestamptz[]) u (id, entitlement, subscription, ord, kind, version, key, correlation, effective)
        ),
        d as (
            insert into goods_deliveries (order_id, provider, correlation_id)
            select u.* from unnest($24::uuid[], $25::text[], $26::text[]) u (ord, provider, correlation)
        ),
        k as (
            insert into idempotency_keys (principal, key, fingerprint, status, answer)
            select $27::text, $28, $29, $30, $31 where $27 is not null
            on conflict (principal, key) do update set
                -- a claim is answered once; a second answer violates the range and takes the whole statement back
                status = case when idempotency_keys.status is null then excluded.status else -1 end,
                answer = excluded.answer, claimed_until = null
        )
        select max(position) from e
        "#,
        work.metadata_text,
        &events.iter().map(|row| row.aggregate_type).collect::<Vec<_>>() as &[&str],
        &events.iter().map(|row| row.aggregate_id.as_str()).collect::<Vec<_>>() as &[&str],
        &events.iter().map(|row| row.sequence).collect::<Vec<_>>(),
        &events.iter().map(|row| row.event_type.as_str()).collect::<Vec<_>>() as &[&str],
        &events.iter().map(|row| row.event_version.as_str()).collect::<Vec<_>>() as &[&str],
        &events.iter().map(|row| row.payload.as_str()).collect::<Vec<_>>() as &[&str],
        &events.iter().map(|row| row.hash.as_slice()).collect::<Vec<_>>() as &[&[u8]],
        headers,
        &outbox.iter().map(|row| row.aggregate_type).collect::<Vec<_>>() as &[&str],
        &outbox.iter().map(|row| row.aggregate_id.as_str()).collect::<Vec<_>>() as &[&str],
        &outbox.iter().map(|row| row.sequence).collect::<Vec<_>>(),
        &outbox.iter().map(|row| row.topic).collect::<Vec<_>>() as &[&str],
        &outbox.iter().map(|row| row.payload.as_str()).collect::<Vec<_>>() as &[&str],
        &operations.ids,
        &operations.entitlements,
        &operations.subscriptions,
        &operations.orders as &[Option<Uuid>],
        &operations.kinds as &[&str],
        &operations.versions,
        &operations.keys as &[&str],
        &operations.correlations as &[&str],
        &operations.effective as &[Option<domain::time::Timestamp>],
        &deliveries.iter().map(|row| row.order_id.as_uuid()).collect::<Vec<_>>(),
        &deliveries.iter().map(|row| row.provider.as_str()).collect::<Vec<_>>() as &[&str],
        &deliveries.iter().map(|row| row.correlation_id.as_str()).collect::<Vec<_>>() as &[&str],
        answered.map(|(key, _)| key.principal.as_str()),
        answered.map(|(key, _)| key.key.as_str()),
        answered.map(|(key, _)| key.fingerprint.as_slice()),
        answered.map(|(_, answer)| i16::try_from(answer.status).unwrap_or(i16::MAX)),
        answered.map(|(_, answer)| &answer.body),
    )
    .fetch_one(connection)
    .await
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
