//! `jobs`: drain a backlog of jobs that do nothing, through our worker's wiring and through River's client as its own benchmark sets it up.

use std::{
    convert::Infallible,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use queue::{
    FulfillmentArgs, Handler, Handlers, Outcome, QueueSizes, Queues, Run, Running, SCHEMA, Timing, WorkerOptions,
};
use riverqueue::{
    Client, Job, QueueConfig, WorkContext, WorkOutcome, Workers,
    database::{PostgresDatabase, SchemaName},
};
use sqlx::PgPool;

use super::{Ground, Report, Shape, Side, compare, interleave::Subject};
use crate::failure::Failure;

/// Jobs of one backlog.
const JOBS: i32 = 20_000;
/// At once, and connections: River's benchmark at a size that one server of two cores bears.
const AT_ONCE: usize = 100;
const CONNECTIONS: u32 = 10;

/// Runs the scenario: one backlog a side and round, however long it takes.
pub(crate) async fn run(ground: &Ground, shape: Shape) -> Result<Report, Failure> {
    let subject = Subject {
        scenario: "jobs",
        unit: "job",
        raw_is: "River's Rust client alone, set up as `riverqueue bench` does it (fetch cooldown 2 ms, poll 20 ms), as many jobs at once and connections",
    };
    // Truncating takes the owner.
    let owner = PgPool::connect(ground.url()).await?;
    let backlog = || Backlog {
        ground: ground.options(CONNECTIONS),
        owner: owner.clone(),
        full: AtomicBool::new(false),
    };
    let shape = Shape {
        tasks: 1,
        span: Duration::from_secs(3600),
        ..shape
    };
    compare(subject, &Arc::new(Ours(backlog())), &Arc::new(Plain(backlog())), shape).await
}

/// Jobs that wait.
struct Backlog {
    ground: store::PoolOptions,
    owner: PgPool,
    full: AtomicBool,
}

impl Backlog {
    async fn fill(&self) -> Result<(), Failure> {
        sqlx::raw_sql("truncate public.river_job").execute(&self.owner).await?;
        sqlx::query(
            "insert into public.river_job (args, kind, max_attempts, queue)
             select jsonb_build_object('operationId', gen_random_uuid()), 'fulfillment', 12, $2 from generate_series(1, $1)",
        )
        .bind(JOBS)
        .bind(Queues::CRITICAL)
        .execute(&self.owner)
        .await?;
        sqlx::raw_sql("vacuum analyze public.river_job")
            .execute(&self.owner)
            .await?;
        self.full.store(true, Ordering::SeqCst);
        Ok(())
    }

    /// Waits until nothing is left; how many jobs that were.
    async fn empty(&self) -> Result<u64, Failure> {
        let left = "select exists (select from public.river_job where state in ('available', 'running'))";
        while sqlx::query_scalar(left).fetch_one(&self.owner).await? {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        u64::try_from(JOBS).map_err(Failure::unavailable)
    }
}

/// Our client: handlers, limits, upkeep, only known kinds.
struct Ours(Backlog);

impl Side for Ours {
    type Task = ();

    async fn prepare(&self) -> Result<(), Failure> {
        self.0.fill().await
    }

    fn task(&self) {}

    async fn step(&self, (): &mut ()) -> Result<u64, Failure> {
        if !self.0.full.swap(false, Ordering::SeqCst) {
            return Ok(0);
        }
        let mut handlers = Handlers::new();
        handlers
            .add::<FulfillmentArgs, _>(Nothing)
            .map_err(Failure::unavailable)?;
        let options = WorkerOptions {
            id: "bench".to_owned(),
            pool: store::general_pool(&self.0.ground).await?,
            sizes: QueueSizes {
                critical: AT_ONCE,
                default: 1,
                bulk: 1,
            },
            timing: Timing::default(),
            grace: Duration::from_secs(1),
            passes: Vec::new(),
        };
        let running = Running::start(options, handlers).map_err(Failure::unavailable)?;
        let done = self.0.empty().await;
        running.stop().await.map_err(Failure::unavailable)?;
        done
    }
}

/// A job that is done at once.
struct Nothing;

impl Handler<FulfillmentArgs> for Nothing {
    fn retry_delay(&self, _attempt: i32) -> Duration {
        Duration::ZERO
    }

    async fn run(&self, _run: Run, _args: FulfillmentArgs) -> Result<Outcome, queue::Failure> {
        Ok(Outcome::Done)
    }
}

/// River's client alone.
struct Plain(Backlog);

impl Side for Plain {
    type Task = ();

    async fn prepare(&self) -> Result<(), Failure> {
        self.0.fill().await
    }

    fn task(&self) {}

    async fn step(&self, (): &mut ()) -> Result<u64, Failure> {
        if !self.0.full.swap(false, Ordering::SeqCst) {
            return Ok(0);
        }
        let mut workers = Workers::new();
        workers
            .add_fn(|_: WorkContext, _: Job<FulfillmentArgs>| async { Ok::<_, Infallible>(WorkOutcome::Complete) })
            .map_err(Failure::unavailable)?;
        let schema = SchemaName::new(SCHEMA).map_err(Failure::unavailable)?;
        let database = PostgresDatabase::new(store::general_pool(&self.0.ground).await?).with_schema(schema);
        let critical = QueueConfig::new(AT_ONCE)
            .with_fetch_cooldown(Duration::from_millis(2))
            .with_fetch_poll_interval(Duration::from_millis(20));
        let client = Client::builder(database)
            .id("bench-plain".to_owned())
            .workers(workers)
            .queue(Queues::CRITICAL, critical)
            .build()
            .map_err(Failure::unavailable)?;
        let mut running = client.start().map_err(Failure::unavailable)?;
        let done = self.0.empty().await;
        running.stopper().stop();
        running.wait().await.map_err(Failure::unavailable)?;
        done
    }
}
