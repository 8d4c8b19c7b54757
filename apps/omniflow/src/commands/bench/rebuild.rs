//! `rebuild`: build the read model of orders anew from a whole log, exchange of tables included.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use projectors::{Name, replay::rebuild};
use sqlx::PgPool;

use super::{Ground, Report, Shape, Side, compare, interleave::Subject, replay::fill};
use crate::failure::Failure;

/// Rows of one statement of plain SQL.
const CHUNK: i64 = 100;

/// Runs the scenario: one rebuild a side and round, however long it takes.
pub(crate) async fn run(ground: &Ground, shape: Shape, events: u32) -> Result<Report, Failure> {
    let subject = Subject {
        scenario: "rebuild",
        unit: "event",
        raw_is: "the same events copied into a table like the log's, 100 rows a statement: reading and writing, nothing decoded, nothing folded",
    };
    let pool = ground.general_pool(4).await?;
    fill(&pool, usize::try_from(events).unwrap_or(usize::MAX)).await?;
    ground.vacuum().await?;
    let owner = PgPool::connect(ground.url()).await?;
    sqlx::raw_sql("create table events_twin (like events including all)")
        .execute(&owner)
        .await?;
    let shape = Shape {
        tasks: 1,
        span: Duration::from_secs(3600),
        ..shape
    };
    let ours = Ours {
        pool,
        turn: AtomicU64::new(0),
    };
    compare(
        subject,
        &Arc::new(ours),
        &Arc::new(Raw {
            owner,
            next: AtomicU64::new(0),
        }),
        shape,
    )
    .await
}

/// Through the rebuild.
struct Ours {
    pool: PgPool,
    turn: AtomicU64,
}

impl Side for Ours {
    type Task = ();

    async fn prepare(&self) -> Result<(), Failure> {
        self.turn.store(1, Ordering::SeqCst);
        Ok(())
    }

    fn task(&self) {}

    async fn step(&self, (): &mut ()) -> Result<u64, Failure> {
        if self.turn.swap(0, Ordering::SeqCst) == 0 {
            return Ok(0);
        }
        let rebuilt = rebuild(&self.pool, Name::Orders, &|_| {}).await?;
        Ok(rebuilt.events)
    }
}

/// Plain SQL.
struct Raw {
    owner: PgPool,
    /// Position after which the next chunk begins.
    next: AtomicU64,
}

impl Side for Raw {
    type Task = ();

    async fn prepare(&self) -> Result<(), Failure> {
        sqlx::raw_sql("truncate events_twin").execute(&self.owner).await?;
        self.next.store(0, Ordering::SeqCst);
        Ok(())
    }

    fn task(&self) {}

    async fn step(&self, (): &mut ()) -> Result<u64, Failure> {
        let after = i64::try_from(self.next.load(Ordering::SeqCst)).map_err(Failure::unavailable)?;
        let (copied, last): (i64, Option<i64>) = sqlx::query_as(
            "with copied as (
                insert into events_twin (aggregate_type, aggregate_id, sequence, event_type, event_version, payload, metadata, position,
                       recorded_at, hash) overriding system value
                select aggregate_type, aggregate_id, sequence, event_type, event_version, payload, metadata, position, recorded_at, hash
                  from events where position > $1 and aggregate_type = 'order' order by position limit $2
                returning position)
             select count(*), max(position) from copied",
        )
        .bind(after)
        .bind(CHUNK)
        .fetch_one(&self.owner)
        .await?;
        if let Some(last) = last {
            self.next
                .store(u64::try_from(last).map_err(Failure::unavailable)?, Ordering::SeqCst);
        }
        u64::try_from(copied).map_err(Failure::unavailable)
    }
}
