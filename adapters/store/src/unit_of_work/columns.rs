//! The buffer turned into columns: one array a column, one element a row.

use domain::time::Timestamp;
use serde_json::Value;
use uuid::Uuid;

use super::{
    buffer::{Buffer, EventRow, NewDelivery},
    work::Work,
};

#[derive(Default)]
pub(super) struct Events<'a> {
    pub(super) types: Vec<&'a str>,
    pub(super) ids: Vec<&'a str>,
    pub(super) sequences: Vec<i64>,
    pub(super) event_types: Vec<&'a str>,
    pub(super) versions: Vec<&'a str>,
    pub(super) payloads: Vec<&'a str>,
    pub(super) hashes: Vec<&'a [u8]>,
}

impl<'a> Events<'a> {
    pub(super) fn of(rows: &'a [EventRow]) -> Self {
        let mut columns = Self::default();
        for row in rows {
            columns.types.push(row.aggregate_type);
            columns.ids.push(&row.aggregate_id);
            columns.sequences.push(row.sequence);
            columns.event_types.push(&row.event_type);
            columns.versions.push(&row.event_version);
            columns.payloads.push(&row.payload);
            columns.hashes.push(&row.hash);
        }
        columns
    }
}

#[derive(Default)]
pub(super) struct Outbox<'a> {
    pub(super) headers: Value,
    pub(super) types: Vec<&'a str>,
    pub(super) ids: Vec<&'a str>,
    pub(super) sequences: Vec<i64>,
    pub(super) topics: Vec<&'a str>,
    pub(super) payloads: Vec<&'a str>,
}

impl<'a> Outbox<'a> {
    pub(super) fn of(work: &'a Work) -> Self {
        let mut columns = Self {
            headers: headers(work),
            ..Self::default()
        };
        for row in &work.buffer.outbox {
            columns.types.push(row.aggregate_type);
            columns.ids.push(&row.aggregate_id);
            columns.sequences.push(row.sequence);
            columns.topics.push(row.topic);
            columns.payloads.push(&row.payload);
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
    if let Some(trace) = work.trace {
        headers.insert("traceparent".to_owned(), Value::from(trace.to_string()));
    }
    Value::Object(headers)
}

#[derive(Default)]
pub(super) struct Operations<'a> {
    pub(super) ids: Vec<Uuid>,
    pub(super) entitlements: Vec<Uuid>,
    pub(super) subscriptions: Vec<Uuid>,
    pub(super) orders: Vec<Option<Uuid>>,
    pub(super) kinds: Vec<&'a str>,
    pub(super) versions: Vec<i64>,
    pub(super) keys: Vec<&'a str>,
    pub(super) correlations: Vec<&'a str>,
    pub(super) effective: Vec<Option<Timestamp>>,
}

impl<'a> Operations<'a> {
    pub(super) fn of(buffer: &'a Buffer) -> Self {
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

#[derive(Default)]
pub(super) struct Deliveries<'a> {
    pub(super) orders: Vec<Uuid>,
    pub(super) providers: Vec<&'a str>,
    pub(super) correlations: Vec<&'a str>,
}

impl<'a> Deliveries<'a> {
    pub(super) fn of(rows: &'a [NewDelivery]) -> Self {
        let mut columns = Self::default();
        for row in rows {
            columns.orders.push(row.order_id.as_uuid());
            columns.providers.push(&row.provider);
            columns.correlations.push(&row.correlation_id);
        }
        columns
    }
}

/// Null where nothing is answered.
#[derive(Default)]
pub(super) struct Answer<'a> {
    pub(super) principal: Option<&'a str>,
    pub(super) key: Option<&'a str>,
    pub(super) fingerprint: Option<&'a [u8]>,
    pub(super) status: Option<i16>,
    pub(super) body: Option<&'a Value>,
}

impl<'a> Answer<'a> {
    pub(super) fn of(buffer: &'a Buffer) -> Self {
        buffer.answer.as_ref().map_or_else(Self::default, |(key, answer)| Self {
            principal: Some(&key.principal),
            key: Some(key.key.as_str()),
            fingerprint: Some(&key.fingerprint),
            status: i16::try_from(answer.status).ok(),
            body: Some(&answer.body),
        })
    }
}
