//! `publish`: drain a backlog of the outbox into jobs, through the real publisher.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use projectors::publisher::{Publisher, standard};
use sqlx::PgPool;
use tokio_util::sync::CancellationToken;

use super::{Ground, Report, Shape, Side, compare, interleave::Subject};
use crate::failure::Failure;

/// Rows of one backlog.
const ROWS: i32 = 40_000;
/// Streams they are spread over.
const STREAMS: i32 = 5_000;
/// As the publisher takes at once.
const BATCH: i64 = 500;

/// Runs the scenario: one backlog a side and round, however long it takes.
pub(crate) async fn run(ground: &Ground, shape: Shape) -> Result<Report, Failure> {
    let subject = Subject {
        scenario: "publish",
        unit: "row",
        raw_is: "one statement a batch: take 500 rows with skip locked, insert a job each without a unique key, mark the rows; the jobs' arguments are given, not decided",
    };
    // Truncating takes the owner.
    let owner = PgPool::connect(ground.url()).await?;
    sqlx::raw_sql("create table outbox_twin (like outbox including all)")
        .execute(&owner)
        .await?;
    let ours = Ours {
        ground: ground.options(1),
        owner: owner.clone(),
        full: AtomicBool::new(false),
    };
    let shape = Shape {
        tasks: 1,
        span: Duration::from_secs(3600),
        ..shape
    };
    compare(subject, &Arc::new(ours), &Arc::new(Raw { owner }), shape).await
}

/// Through the publisher: reactors, unique keys, order, wake-up of the workers.
struct Ours {
    ground: store::PoolOptions,
    owner: PgPool,
    full: AtomicBool,
}

impl Side for Ours {
    type Task = ();

    async fn prepare(&self) -> Result<(), Failure> {
        sqlx::raw_sql("truncate outbox, outbox_blocked, public.river_job")
            .execute(&self.owner)
            .await?;
        sqlx::query(
            "insert into outbox (topic, stream, payload)
             select 'entitlement.operation_opened', 'entitlement/' || n % $2, jsonb_build_object('operationId', gen_random_uuid())
               from generate_series(1, $1) n",
        )
        .bind(ROWS)
        .bind(STREAMS)
        .execute(&self.owner)
        .await?;
        sqlx::raw_sql("vacuum analyze outbox").execute(&self.owner).await?;
        self.full.store(true, Ordering::SeqCst);
        Ok(())
    }

    fn task(&self) {}

    async fn step(&self, (): &mut ()) -> Result<u64, Failure> {
        if !self.full.swap(false, Ordering::SeqCst) {
            return Ok(0);
        }
        let shutdown = CancellationToken::new();
        let publisher = tokio::spawn(Publisher::new(self.ground.clone(), standard()).run(shutdown.clone()));
        let waiting =
            "select exists (select from outbox where published_at is null and not parked order by id desc limit 1)";
        while sqlx::query_scalar(waiting).fetch_one(&self.owner).await? {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        shutdown.cancel();
        publisher.await.map_err(Failure::unavailable)?;
        u64::try_from(ROWS).map_err(Failure::unavailable)
    }
}

/// Plain SQL.
struct Raw {
    owner: PgPool,
}

impl Side for Raw {
    type Task = ();

    async fn prepare(&self) -> Result<(), Failure> {
        sqlx::raw_sql("truncate outbox_twin").execute(&self.owner).await?;
        sqlx::query(
            "insert into outbox_twin (id, topic, stream, payload) overriding system value
             select n, 'entitlement.operation_opened', 'entitlement/' || n % $2, jsonb_build_object('operationId', gen_random_uuid())
               from generate_series(1, $1) n",
        )
        .bind(ROWS)
        .bind(STREAMS)
        .execute(&self.owner)
        .await?;
        sqlx::raw_sql("vacuum analyze outbox_twin").execute(&self.owner).await?;
        Ok(())
    }

    fn task(&self) {}

    async fn step(&self, (): &mut ()) -> Result<u64, Failure> {
        let handed: i64 = sqlx::query_scalar(
            "with picked as (
                select id, payload from outbox_twin where published_at is null and not parked order by id limit $1 for update skip locked),
             job as (
                insert into public.river_job (args, kind, max_attempts, queue) select payload, 'bench', 12, 'critical' from picked),
             marked as (
                update outbox_twin o set published_at = clock_timestamp() from picked where picked.id = o.id returning 1)
             select count(*) from marked",
        )
        .bind(BATCH)
        .fetch_one(&self.owner)
        .await?;
        u64::try_from(handed).map_err(Failure::unavailable)
    }
}
