//! What a unit of work will write.

use domain::{
    entitlement::OperationKind,
    ids::{EntitlementId, OperationId, OrderId, SubscriptionId},
    time::Timestamp,
};

use crate::{
    hash::Hash,
    idempotency::{KeyedRequest, StoredAnswer},
};

/// A row of `fulfillment_operations`, beside the event that opened the operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewOperation {
    /// Chosen by the caller, as in the event.
    pub operation_id: OperationId,
    /// Whose desired state is pushed.
    pub entitlement_id: EntitlementId,
    /// Whose lease is taken.
    pub subscription_id: SubscriptionId,
    /// The order that is fulfilled by it.
    pub order_id: Option<OrderId>,
    /// What it is for.
    pub operation: OperationKind,
    /// Desired version it was opened for.
    pub version: i64,
    /// Unique over all operations.
    pub idempotency_key: String,
    /// Of the request that opened it.
    pub correlation_id: String,
    /// Not run before this; absent means at once.
    pub effective_at: Option<Timestamp>,
}

/// A row of `goods_deliveries`, beside the event that said what is owed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewDelivery {
    /// Also the delivery's id.
    pub order_id: OrderId,
    /// Who delivers.
    pub provider: String,
    /// Of the request that caused it.
    pub correlation_id: String,
}

/// A row of `events`.
#[derive(Debug)]
pub(super) struct EventRow {
    pub(super) aggregate_type: &'static str,
    pub(super) aggregate_id: String,
    pub(super) sequence: i64,
    pub(super) event_type: String,
    pub(super) event_version: String,
    pub(super) payload: String,
    pub(super) hash: Hash,
}

/// A row of `outbox`, owed by the event of the same stream and sequence.
#[derive(Debug)]
pub(super) struct OutboxRow {
    pub(super) aggregate_type: &'static str,
    pub(super) aggregate_id: String,
    pub(super) sequence: i64,
    pub(super) topic: &'static str,
    pub(super) payload: String,
}

/// Rows of one statement.
#[derive(Debug, Default)]
pub(super) struct Buffer {
    pub(super) events: Vec<EventRow>,
    pub(super) outbox: Vec<OutboxRow>,
    pub(super) operations: Vec<NewOperation>,
    pub(super) deliveries: Vec<NewDelivery>,
    pub(super) answer: Option<(KeyedRequest, StoredAnswer)>,
}

impl Buffer {
    pub(super) fn is_empty(&self) -> bool {
        self.events.is_empty()
            && self.outbox.is_empty()
            && self.operations.is_empty()
            && self.deliveries.is_empty()
            && self.answer.is_none()
    }

    /// Puts the rows into the order in which every writer locks: by type, id and sequence. Ties keep the order of the decisions.
    pub(super) fn sort(&mut self) {
        self.events.sort_by(|a, b| {
            (a.aggregate_type, &a.aggregate_id, a.sequence).cmp(&(b.aggregate_type, &b.aggregate_id, b.sequence))
        });
        self.outbox.sort_by(|a, b| {
            (a.aggregate_type, &a.aggregate_id, a.sequence).cmp(&(b.aggregate_type, &b.aggregate_id, b.sequence))
        });
        self.operations.sort_by_key(|row| row.operation_id);
        self.deliveries.sort_by_key(|row| row.order_id);
    }
}
