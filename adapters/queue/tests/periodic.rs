//! Periodic jobs with real leaders: one enqueues for all, never beside a run that is still on, and another takes over when it dies.

#![expect(
    clippy::unwrap_used,
    reason = "a test whose ground is missing has nothing better to say"
)]

use std::{
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use queue::{
    Failure, Handler, Handlers, JobClient, Outcome, Pass, PeriodicArgs, QueueSizes, Run, Running, Timing, WorkerOptions,
};
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
fn b70_another_client_goes_on_when_the_leader_dies_without_a_word() {
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

/// B66: ten thousand lost jobs of kinds that this client does not know, and one that nobody can read, stand in nobody's way.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b66_a_lost_job_is_rescued_behind_any_number_of_strange_ones() {
    let db = TestDb::new().await;
    let pool = PgPool::connect(&db.url).await.unwrap();
    let lost = "insert into river_job (kind, args, queue, max_attempts, state, attempt, attempted_at, attempted_by)
                select $1, $2::jsonb, 'default', $4, 'running', 1, now() - interval '1 hour', array['gone']
                  from generate_series(1, $3)";
    let normal = serde_json::to_string(&PeriodicArgs {
        task: "tick".to_owned(),
    })
    .unwrap();
    for (kind, args, count, attempts) in [
        ("of_another_version", "{}", 10_001, 12),
        ("periodic_task", "\"not-json-object\"", 1, 2),
        ("periodic_task", normal.as_str(), 1, 12),
    ] {
        sqlx::query(lost)
            .bind(kind)
            .bind(args)
            .bind(count)
            .bind(attempts)
            .execute(&pool)
            .await
            .unwrap();
    }
    let ticks = Ticks {
        client: "rescuer",
        lasts: Duration::ZERO,
        seen: Arc::default(),
    };
    let running = client(&pool, ticks);
    let end = Instant::now() + Duration::from_mins(1);
    loop {
        let (normal, unreadable): (String, String) = sqlx::query_as(
            "select max(state::text) filter (where args ->> 'task' = 'tick'), max(state::text) filter (where args = '\"not-json-object\"')
               from river_job where attempted_by[1] = 'gone' and kind = 'periodic_task'",
        )
        .fetch_one(&pool)
        .await
        .unwrap();
        if normal == "completed" && ["discarded", "cancelled"].contains(&unreadable.as_str()) {
            break;
        }
        assert!(Instant::now() < end, "{normal}, {unreadable}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    running.stop().await.unwrap();
    let queue = JobClient::new(pool.clone());
    let mut restored = 0;
    while let more @ 1.. = queue.restore_strangers(5_000).await.unwrap() {
        restored += more;
    }
    assert_eq!(restored, 10_001, "a client gives up nobody else's jobs");
    let waiting = "select count(*) from river_job where kind = 'of_another_version' and state = 'available' and finalized_at is null";
    let waiting: i64 = sqlx::query_scalar(waiting).fetch_one(&pool).await.unwrap();
    assert_eq!(waiting, 10_001);
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap()
}
