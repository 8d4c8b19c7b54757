//! Outbox rows of a test's own, and what became of them.

use std::time::Duration;

use projectors::publisher::{Publisher, Reactors, standard};
use serde_json::{Value, json};
use sqlx::PgPool;
use tokio::{task::JoinHandle, time::Instant};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::log::Log;

/// Writes one row for each (stream, payload); answers their ids.
pub(crate) async fn write(pool: &PgPool, topic: &str, rows: &[(String, Value)]) -> Vec<i64> {
    sqlx::query_scalar(
        "insert into outbox (topic, stream, payload, headers)
         select $1, r.stream, r.payload::jsonb, '{\"correlationId\": \"c\"}'
           from unnest($2::text[], $3::text[]) with ordinality r(stream, payload, place) order by r.place
         returning id",
    )
    .bind(topic)
    .bind(rows.iter().map(|row| row.0.clone()).collect::<Vec<_>>())
    .bind(rows.iter().map(|row| row.1.to_string()).collect::<Vec<_>>())
    .fetch_all(pool)
    .await
    .unwrap()
}

pub(crate) fn opened(stream: u32, operation: u32) -> (String, Value) {
    let id = Uuid::from_u128(u128::from(operation));
    (format!("entitlement/{stream}"), json!({ "operationId": id }))
}

pub(crate) const OPENED: &str = "entitlement.operation_opened";

/// A publisher that runs until it is stopped.
pub(crate) struct Running {
    shutdown: CancellationToken,
    running: JoinHandle<()>,
}

impl Running {
    pub(crate) fn start(log: &Log) -> Self {
        Self::with(log, standard())
    }

    pub(crate) fn with(log: &Log, reactors: Reactors) -> Self {
        let shutdown = CancellationToken::new();
        let publisher = Publisher::new(log.options(), reactors);
        let running = tokio::spawn(publisher.run(shutdown.clone()));
        Self { shutdown, running }
    }

    pub(crate) async fn stop(self) {
        self.shutdown.cancel();
        self.running.await.unwrap();
    }
}

/// Waits until a count is what it should be.
pub(crate) async fn until(pool: &PgPool, count: &'static str, wanted: i64, patience: Duration) {
    let deadline = Instant::now() + patience;
    loop {
        let found: i64 = sqlx::query_scalar(count).fetch_one(pool).await.unwrap();
        if found == wanted {
            return;
        }
        assert!(Instant::now() < deadline, "`{count}` is {found}, not {wanted}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

pub(crate) const UNPUBLISHED: &str = "select count(*) from outbox where published_at is null";
pub(crate) const BLOCKED: &str = "select count(*) from outbox_blocked";

/// Operations in the order of their jobs.
pub(crate) async fn job_order(pool: &PgPool) -> Vec<Uuid> {
    sqlx::query_scalar("select (args->>'operationId')::uuid from public.river_job order by id")
        .fetch_all(pool)
        .await
        .unwrap()
}
