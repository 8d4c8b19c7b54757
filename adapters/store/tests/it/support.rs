//! What the tests of the store share: a database each, and an aggregate small enough to see through.

use cqrs_es::{Aggregate, DomainEvent, event_sink::EventSink, persist::EventUpcaster};
use domain::{
    aggregate::{Decide, write_decision},
    ids::{EntitlementId, IdempotencyKey, OperationId, OrderId, SubscriptionId},
    log::Metadata,
    topics::{Message, OperationOpened},
};
use serde::{Deserialize, Serialize};
use store::{KeyedRequest, NewOperation, PoolOptions, Store, StoredAnswer};
use tests::TestDb;
use uuid::Uuid;

/// Counts. Every event of 5 or more announces an operation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Counter {
    pub(crate) id: Uuid,
    pub(crate) total: i64,
    pub(crate) notes: Vec<String>,
}

#[derive(Clone, Debug)]
pub(crate) enum Command {
    Add { at_once: Vec<i64> },
    Note(String),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
pub(crate) enum Event {
    #[serde(rename = "counter.added")]
    Added { amount: i64, new_total: i64 },
    #[serde(rename = "counter.noted")]
    Noted { note: String },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("totals never fall below zero")]
pub(crate) struct Negative;

impl DomainEvent for Event {
    fn event_type(&self) -> String {
        match self {
            Self::Added { .. } => "counter.added",
            Self::Noted { .. } => "counter.noted",
        }
        .to_owned()
    }

    fn event_version(&self) -> String {
        "1".to_owned()
    }
}

impl Aggregate for Counter {
    const TYPE: &'static str = "counter";
    type Command = Command;
    type Event = Event;
    type Error = Negative;
    type Services = ();

    async fn handle(&mut self, command: Command, (): &(), sink: &EventSink<Self>) -> Result<(), Negative> {
        write_decision(self, command, sink).await
    }

    fn apply(&mut self, event: Event) {
        match event {
            Event::Added { amount, .. } => self.total += amount,
            Event::Noted { note } => self.notes.push(note),
        }
    }
}

impl Decide for Counter {
    fn decide(&self, command: Command) -> Result<Vec<Event>, Negative> {
        match command {
            Command::Note(note) => Ok(vec![Event::Noted { note }]),
            Command::Add { at_once } => {
                let mut total = self.total;
                at_once
                    .into_iter()
                    .map(|amount| {
                        total += amount;
                        if total < 0 {
                            Err(Negative)
                        } else {
                            Ok(Event::Added {
                                amount,
                                new_total: total,
                            })
                        }
                    })
                    .collect()
            }
        }
    }

    fn announce(&self, event: &Event, _event_id: &str, _metadata: &Metadata) -> Vec<Message> {
        match event {
            Event::Added { amount: 5.., new_total } => vec![Message::OperationOpened(OperationOpened {
                operation_id: OperationId::new(Uuid::from_u128(u128::try_from(*new_total).unwrap())),
            })],
            Event::Added { .. } | Event::Noted { .. } => Vec::new(),
        }
    }

    fn upcasters() -> Vec<Box<dyn EventUpcaster>> {
        Vec::new()
    }
}

pub(crate) fn metadata() -> Metadata {
    Metadata {
        correlation_id: "corr-1".to_owned(),
        causation_id: Some("test".to_owned()),
        actor: "system:test".to_owned(),
        reason: None,
        at: "2026-11-29T12:00:00Z".parse().unwrap(),
    }
}

pub(crate) fn add(amounts: &[i64]) -> Command {
    Command::Add {
        at_once: amounts.to_vec(),
    }
}

/// Ids that no other call in this process gets.
pub(crate) fn id() -> Uuid {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(1);
    Uuid::from_u64_pair(
        0x0198_0000_0000_7000,
        0x8000_0000_0000_0000 | NEXT.fetch_add(1, Ordering::Relaxed),
    )
}

pub(crate) fn keyed(key: &str, body: u8) -> KeyedRequest {
    KeyedRequest {
        principal: "customer:1".to_owned(),
        key: IdempotencyKey::parse(key).unwrap(),
        fingerprint: [body; 32],
    }
}

pub(crate) fn answer(status: u16, text: &str) -> StoredAnswer {
    StoredAnswer {
        status,
        body: serde_json::json!({ "said": text }),
    }
}

pub(crate) fn operation(key: &str) -> NewOperation {
    NewOperation {
        operation_id: OperationId::new(id()),
        entitlement_id: EntitlementId::new(id()),
        subscription_id: SubscriptionId::new(id()),
        order_id: Some(OrderId::new(id())),
        operation: domain::entitlement::OperationKind::Create,
        version: 1,
        idempotency_key: key.to_owned(),
        correlation_id: "corr-1".to_owned(),
        effective_at: None,
    }
}

pub(crate) fn options(db: &TestDb, size: u32) -> PoolOptions {
    PoolOptions {
        url: db.url.clone(),
        size,
        process: "test",
    }
}

pub(crate) async fn store(db: &TestDb, size: u32) -> Store {
    Store::new(store::command_pool(&options(db, size)).await.unwrap())
}

/// One number, read as the owner sees it.
pub(crate) async fn number(db: &TestDb, sql: &'static str) -> i64 {
    let mut connection = owner(db).await;
    sqlx::query_scalar(sql).fetch_one(&mut connection).await.unwrap()
}

pub(crate) async fn owner(db: &TestDb) -> sqlx::PgConnection {
    use sqlx::Connection as _;
    sqlx::PgConnection::connect(&db.owner_url).await.unwrap()
}
