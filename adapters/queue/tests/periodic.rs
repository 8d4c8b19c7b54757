//! Periodic jobs with real leaders: one enqueues for all, never beside a run that is still on, and another takes over when it dies.

#![expect(
    clippy::unwrap_used,
    reason = "a test whose ground is missing has nothing better to say"
)]

use std::{
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use queue::{Failure, Handler, Handlers, Outcome, Pass, PeriodicArgs, QueueSizes, Run, Running, Timing, WorkerOptions};
use sqlx::PgPool;
use tests::TestDb;

/// What the runs of all clients did.
#[derive(Debug, Default)]
struct Seen {
    on: usize,
    most_at_once: usize,
    by: Vec<&'static str>,
}

#[derive(Clone, Debug)]
struct Ticks {
    client: &'static str,
    lasts: Duration,
    seen: Arc<Mutex<Seen>>,
}

impl Handler<PeriodicArgs> for Ticks {
    fn retry_delay(&self, _attempt: i32) -> Duration {
        Duration::from_secs(1)
    }

    async fn run(&self, _: Run, _: PeriodicArgs) -> Result<Outcome, Failure> {
        {
            let mut seen = self.seen.lock().unwrap();
            seen.on += 1;
            seen.most_at_once = seen.most_at_once.max(seen.on);
            seen.by.push(self.client);
        }
        tokio::time::sleep(self.lasts).await;
        self.seen.lock().unwrap().on -= 1;
        Ok(Outcome::Done)
    }
}

fn client(pool: &PgPool, ticks: Ticks) -> Running {
    let options = WorkerOptions {
        id: ticks.client.to_owned(),
        pool: pool.clone(),
        sizes: QueueSizes::default(),
        timing: Timing {
            upkeep_every: Duration::from_secs(1),
            ..Timing::default()
        },
        grace: Duration::from_millis(100),
        passes: vec![Pass {
            name: "tick",
            every: Duration::from_secs(1),
        }],
    };
    let mut handlers = Handlers::new();
    handlers.add(ticks).unwrap();
    Running::start(options, handlers).unwrap()
}

async fn until(what: &str, mut done: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_mins(1);
    while !done() {
        assert!(Instant::now() < end, "{what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_clients_run_a_pass_once_an_interval_and_never_beside_itself_although_it_lasts_longer() {
    let db = TestDb::new().await;
    let pool = PgPool::connect(&db.url).await.unwrap();
    let seen = Arc::new(Mutex::new(Seen::default()));
    let ticks = |client| Ticks {
        client,
        lasts: Duration::from_millis(1_500),
        seen: Arc::clone(&seen),
    };
    let (one, other) = (client(&pool, ticks("one")), client(&pool, ticks("other")));
    until("four runs", || seen.lock().unwrap().by.len() >= 4).await;
    assert_eq!(seen.lock().unwrap().most_at_once, 1);
    // Each run is a job, and no job waits behind them: none was queued for the other client, or beside a run.
    let (jobs, waiting): (i64, i64) = sqlx::query_as(
        "select count(*), count(*) filter (where state not in ('running', 'completed')) from river_job where kind = 'periodic_task'",
    )
    .fetch_one(&pool)
    .await
    .unwrap();
    let runs = i64::try_from(seen.lock().unwrap().by.len()).unwrap();
    assert!(
        jobs <= runs + 1 && waiting <= 1,
        "{jobs} jobs, {waiting} waiting, {runs} runs"
    );
    one.stop().await.unwrap();
    other.stop().await.unwrap();
}

#[test]
fn another_client_goes_on_when_the_leader_dies_without_a_word() {
    let seen = Arc::new(Mutex::new(Seen::default()));
    let ticks = |client| Ticks {
        client,
        lasts: Duration::ZERO,
        seen: Arc::clone(&seen),
    };
    let ran_by = |client: &'static str| seen.lock().unwrap().by.contains(&client);
    let (doomed, lasting) = (runtime(), runtime());
    let db = lasting.block_on(TestDb::new());
    let running = doomed.block_on(async {
        let pool = PgPool::connect(&db.url).await.unwrap();
        let running = client(&pool, ticks("doomed"));
        until("the first client runs the pass", || ran_by("doomed")).await;
        running
    });
    let (pool, second) = lasting.block_on(async {
        let pool = PgPool::connect(&db.url).await.unwrap();
        let second = client(&pool, ticks("lasting"));
        let leader: String = sqlx::query_scalar("select leader_id from river_leader")
            .fetch_one(&pool)
            .await
            .unwrap();
        assert_eq!(leader, "doomed");
        (pool, second)
    });
    // Nothing of it runs on: no resignation, no last job.
    doomed.shutdown_background();
    std::mem::drop(running);
    seen.lock().unwrap().by.clear();
    lasting.block_on(async {
        until("the second client runs the pass", || ran_by("lasting")).await;
        second.stop().await.unwrap();
        pool.close().await;
    });
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap()
}
