//! `append`: load a stream, decide, append one event. Streams grow to ten events, then a new one begins.

use std::sync::Arc;

use domain::{ids::OrderId, money::Currency, order::Order};
use ports::ids::{Ids, SystemIds};
use sqlx::PgPool;
use store::{Store, StreamId, canonical};

use super::{
    Ground, Report, Shape, Side, compare,
    interleave::Subject,
    seed::{Case, currency, metadata, metadata_text},
};
use crate::failure::Failure;

/// Events of a stream before the next one begins.
const LENGTH: i64 = 10;

/// Runs the scenario.
pub(crate) async fn run(ground: &Ground, shape: Shape) -> Result<Report, Failure> {
    let subject = Subject {
        scenario: "append",
        unit: "command",
        raw_is: "begin, select the stream, insert the event, commit; no decision, no decoding, no hash",
    };
    let ours = Ours {
        store: Store::new(ground.command_pool(shape.tasks).await?),
        currency: currency()?,
    };
    let raw = Raw::new(ground.command_pool(shape.tasks).await?)?;
    compare(subject, &Arc::new(ours), &Arc::new(raw), shape).await
}

/// Through the unit of work.
struct Ours {
    store: Store,
    currency: Currency,
}

/// One order, and how far it is.
struct Growing {
    case: Case,
    sequence: i64,
}

impl Side for Ours {
    type Task = Growing;

    fn task(&self) -> Growing {
        Growing {
            case: Case::new(),
            sequence: 0,
        }
    }

    async fn step(&self, task: &mut Growing) -> Result<u64, Failure> {
        if task.sequence == LENGTH {
            *task = self.task();
        }
        let command = match task.sequence {
            0 => task.case.place(self.currency),
            1 => task.case.open_intent(),
            sequence => task.case.payment(format!("event-{sequence}"), 1_000, self.currency)?,
        };
        let id = task.case.order;
        let mut work = self.store.load(&[StreamId::of::<Order>(id)], metadata()).await?;
        work.execute::<Order>(id, command).map_err(Failure::unavailable)?;
        work.commit().await?;
        task.sequence = task.sequence.saturating_add(1);
        Ok(1)
    }
}

/// The same rows by plain statements.
struct Raw {
    pool: PgPool,
    metadata: String,
    payload: String,
}

impl Raw {
    fn new(pool: PgPool) -> Result<Self, Failure> {
        let case = Case::new();
        let mut order = Order::default();
        let currency = currency()?;
        let mut payload = String::new();
        for command in [
            case.place(currency),
            case.open_intent(),
            case.payment("event-2".to_owned(), 1_000, currency)?,
        ] {
            for event in domain::aggregate::Decide::decide(&order, command).map_err(Failure::unavailable)? {
                payload = canonical(&event)?;
                cqrs_es::Aggregate::apply(&mut order, event);
            }
        }
        Ok(Self {
            pool,
            metadata: metadata_text()?,
            payload,
        })
    }
}

impl Side for Raw {
    type Task = (OrderId, i64);

    fn task(&self) -> (OrderId, i64) {
        (OrderId::new(SystemIds.next()), 0)
    }

    async fn step(&self, task: &mut (OrderId, i64)) -> Result<u64, Failure> {
        if task.1 == LENGTH {
            *task = self.task();
        }
        let id = task.0.to_string();
        let mut transaction = self.pool.begin().await?;
        let stored = sqlx::query(
            "select aggregate_type, aggregate_id, sequence, event_type, event_version, payload, metadata
            from events where aggregate_type = $1 and aggregate_id = $2 order by sequence",
        )
        .bind("order")
        .bind(&id)
        .fetch_all(&mut *transaction)
        .await?;
        task.1 = i64::try_from(stored.len()).unwrap_or(i64::MAX).saturating_add(1);
        sqlx::query(
            "insert into events (aggregate_type, aggregate_id, sequence, event_type, event_version, payload, metadata)
            values ($1, $2, $3, $4, $5, $6::jsonb, $7::jsonb)",
        )
        .bind("order")
        .bind(&id)
        .bind(task.1)
        .bind("order.payment_observed")
        .bind("1")
        .bind(&self.payload)
        .bind(&self.metadata)
        .execute(&mut *transaction)
        .await?;
        transaction.commit().await?;
        Ok(1)
    }
}
