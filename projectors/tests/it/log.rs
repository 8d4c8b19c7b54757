//! A log of a test's own, written without the product's write path.

use std::collections::HashMap;

use serde_json::{Value, json};
use sqlx::{PgPool, postgres::PgPoolOptions};
use store::{PoolOptions, general_pool};
use tests::TestDb;
use uuid::Uuid;

/// One event to be: its stream and payload.
pub(crate) type Said = (&'static str, Uuid, Value);

pub(crate) struct Log {
    pub(crate) database: TestDb,
    /// As the product's processes see the database.
    pub(crate) pool: PgPool,
    /// As its owner.
    pub(crate) owner: PgPool,
    sequences: HashMap<(&'static str, Uuid), i64>,
}

impl Log {
    pub(crate) async fn new() -> Self {
        let database = TestDb::new().await;
        let pool = general_pool(&options(&database)).await.unwrap();
        let owner = PgPoolOptions::new()
            .max_connections(3)
            .connect(&database.owner_url)
            .await
            .unwrap();
        Self {
            database,
            pool,
            owner,
            sequences: HashMap::new(),
        }
    }

    pub(crate) fn options(&self) -> PoolOptions {
        options(&self.database)
    }

    /// Appends in one commit; answers the last position.
    pub(crate) async fn append(&mut self, events: &[Said]) -> i64 {
        let mut sequences = Vec::new();
        for (kind, id, _) in events {
            let sequence = self.sequences.entry((*kind, *id)).or_insert(0);
            *sequence += 1;
            sequences.push(*sequence);
        }
        let metadata = json!({ "correlationId": "c", "actor": "system:test", "at": "2026-01-01T00:00:00Z" });
        sqlx::query_scalar(
            "with appended as (
                insert into events (aggregate_type, aggregate_id, sequence, event_type, event_version, payload, metadata)
                select e.kind, e.id, e.sequence, e.payload::jsonb->>'type', '1', e.payload::jsonb, $5::jsonb
                  from unnest($1::text[], $2::text[], $3::bigint[], $4::text[]) with ordinality e(kind, id, sequence, payload, place)
                 order by e.place
                returning position)
             select max(position) from appended",
        )
        .bind(events.iter().map(|event| event.0).collect::<Vec<_>>())
        .bind(events.iter().map(|event| event.1.to_string()).collect::<Vec<_>>())
        .bind(sequences)
        .bind(events.iter().map(|event| event.2.to_string()).collect::<Vec<_>>())
        .bind(metadata.to_string())
        .fetch_one(&self.pool)
        .await
        .unwrap()
    }

    /// Every row of a read model, in key order.
    pub(crate) async fn rows(&self, table: &str) -> Vec<Value> {
        let sql = match table {
            "orders" => "select to_jsonb(t) from read.orders t order by order_id",
            "entitlements" => "select to_jsonb(t) from read.entitlements t order by entitlement_id",
            "operations_view" => "select to_jsonb(t) from read.operations_view t order by operation_id",
            "deliveries" => "select to_jsonb(t) from read.deliveries t order by order_id",
            other => panic!("no table {other}"),
        };
        sqlx::query_scalar(sql).fetch_all(&self.pool).await.unwrap()
    }
}

pub(crate) fn options(database: &TestDb) -> PoolOptions {
    PoolOptions {
        url: database.url.clone(),
        size: 8,
        process: "test",
    }
}
