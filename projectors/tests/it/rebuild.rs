//! Rebuilding read models while the system runs.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicI64, Ordering},
    },
    time::Duration,
};

use projectors::{
    NAMES, Name, ProjectionError,
    replay::{Progress, rebuild},
    runner::run_all,
};
use store::{checkpoint, read_model};
use tokio_util::sync::CancellationToken;

use crate::{
    catch_up::follow_all,
    log::Log,
    stories::{Purchase, shop},
};

fn quiet(_: Progress) {}

async fn tables(log: &Log) -> Vec<Vec<serde_json::Value>> {
    let mut tables = Vec::new();
    for name in NAMES {
        tables.push(log.rows(name.as_str()).await);
    }
    tables
}

async fn told(commits: &[Vec<crate::log::Said>]) -> Log {
    let mut log = Log::new().await;
    for commit in commits {
        log.append(commit).await;
    }
    follow_all(&log).await;
    log
}

#[tokio::test]
async fn b59_the_replay_of_interleaved_streams_equals_the_live_rows() {
    let mut log = Log::new().await;
    let mut purchases: Vec<Purchase> = (0..3).map(Purchase::new).collect();
    for purchase in &mut purchases {
        let mut said = purchase.placed();
        said.extend(purchase.asked());
        said.extend(purchase.settled());
        log.append(&said).await;
    }
    for round in 1..250_u32 {
        for purchase in &mut purchases {
            let mut said = purchase.extended(round);
            said.extend(purchase.applied(round));
            if !said.is_empty() {
                log.append(&said).await;
            }
        }
    }
    let shortest: i64 = sqlx::query_scalar("select min(n) from (select count(*) n from events where aggregate_type = 'entitlement' group by aggregate_id) s")
        .fetch_one(&log.pool)
        .await
        .unwrap();
    assert!(shortest >= 990, "{shortest} events");
    follow_all(&log).await;
    let live = tables(&log).await;
    for name in NAMES {
        rebuild(&log.pool, name, &quiet).await.unwrap();
    }
    assert_eq!(tables(&log).await, live);
}

#[tokio::test]
async fn b59_a_replay_whose_connection_is_cut_says_where_and_goes_on_from_there() {
    let mut log = Log::new().await;
    for commit in shop(0, 1500) {
        log.append(&commit).await;
    }
    follow_all(&log).await;
    let live = tables(&log).await;
    let reached = Arc::new(AtomicI64::new(0));
    let seen = Arc::clone(&reached);
    let url = log.database.owner_url.clone();
    let cut = AtomicBool::new(false);
    let error = rebuild(&log.pool, Name::Orders, &move |progress: Progress| {
        seen.store(progress.position, Ordering::SeqCst);
        if !cut.swap(true, Ordering::SeqCst) {
            let url = url.clone();
            // Not from the runtime's own thread: the callback is synchronous and must be done when it returns.
            std::thread::spawn(move || terminate_rebuilds(&url)).join().unwrap();
        }
    })
    .await
    .unwrap_err();
    let ProjectionError::Interrupted { position, .. } = error else {
        panic!("{error}")
    };
    assert_eq!(position, reached.load(Ordering::SeqCst));
    assert!(position > 0);
    assert_eq!(tables(&log).await, live, "readers still have the old rows");

    let rebuilt = rebuild(&log.pool, Name::Orders, &quiet).await.unwrap();
    assert_eq!(rebuilt.resumed_from, position);
    assert_eq!(tables(&log).await, live);
}

fn terminate_rebuilds(url: &str) {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
        use sqlx::Connection as _;
        let mut owner = sqlx::PgConnection::connect(url).await.unwrap();
        let ended: Vec<bool> = sqlx::query_scalar(
            "select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and classid = 252706817 and granted
                and database = (select oid from pg_database where datname = current_database())",
        )
        .fetch_all(&mut owner)
        .await
        .unwrap();
        assert_eq!(ended, [true]);
    });
}

#[tokio::test]
async fn b60_rebuilding_again_and_again_makes_the_same_rows_with_the_same_indexes() {
    let commits = shop(0, 60);
    let mut log = told(&commits).await;
    let indexes = "select indexname::text, regexp_replace(indexdef, ' ON \\w+\\.', ' ON ') from pg_indexes where schemaname = 'read' order by 1";
    let before: Vec<(String, String)> = sqlx::query_as(indexes).fetch_all(&log.owner).await.unwrap();
    let live = tables(&log).await;
    for name in NAMES {
        rebuild(&log.pool, name, &quiet).await.unwrap();
        rebuild(&log.pool, name, &quiet).await.unwrap();
    }
    assert_eq!(tables(&log).await, live);
    let mut more = Purchase::new(9000);
    for commit in [more.placed(), more.asked(), more.settled()] {
        log.append(&commit).await;
    }
    rebuild(&log.pool, Name::Orders, &quiet).await.unwrap();
    follow_all(&log).await;
    let mut fresh = Purchase::new(9000);
    let mut all = commits;
    all.extend([fresh.placed(), fresh.asked(), fresh.settled()]);
    assert_eq!(tables(&log).await, tables(&told(&all).await).await);
    let after: Vec<(String, String)> = sqlx::query_as(indexes).fetch_all(&log.owner).await.unwrap();
    assert_eq!(before, after);
    let left: Vec<String> = sqlx::query_scalar("select name from projection_checkpoints where name like 'rebuild:%'")
        .fetch_all(&log.pool)
        .await
        .unwrap();
    assert!(left.is_empty(), "{left:?}");
}

#[tokio::test]
async fn a_row_that_the_log_knows_nothing_of_does_not_survive() {
    let log = told(&shop(0, 10)).await;
    let live = tables(&log).await;
    sqlx::query("delete from read.orders where order_id = (select min(order_id::text)::uuid from read.orders)")
        .execute(&log.owner)
        .await
        .unwrap();
    sqlx::query("update read.entitlements set plan_code = 'edited', last_position = 1000000")
        .execute(&log.owner)
        .await
        .unwrap();
    for name in NAMES {
        rebuild(&log.pool, name, &quiet).await.unwrap();
    }
    assert_eq!(tables(&log).await, live);
}

#[tokio::test]
async fn b60_readers_never_see_an_empty_table_and_the_live_runner_loses_nothing() {
    let mut log = told(&shop(0, 200)).await;
    let least = log.rows("orders").await.len();
    let shutdown = CancellationToken::new();
    let mut others = tokio::task::JoinSet::new();
    let pool = log.pool.clone();
    let running = shutdown.clone();
    others.spawn(async move { run_all(pool, running).await.unwrap() });
    for _ in 0..3 {
        let (pool, stop) = (log.pool.clone(), shutdown.clone());
        others.spawn(async move {
            let mut seen = 0;
            while !stop.is_cancelled() {
                let count: i64 = sqlx::query_scalar("select count(*) from orders")
                    .fetch_one(&pool)
                    .await
                    .unwrap();
                assert!(
                    usize::try_from(count).unwrap() >= least.max(seen),
                    "{count} orders after {seen}"
                );
                seen = usize::try_from(count).unwrap();
            }
        });
    }
    let pool = log.pool.clone();
    let rebuilding = tokio::spawn(async move {
        for _ in 0..4 {
            for name in NAMES {
                rebuild(&pool, name, &quiet).await.unwrap();
            }
        }
    });
    let mut last = 0;
    for commit in shop(1000, 120) {
        last = log.append(&commit).await;
    }
    rebuilding.await.unwrap();
    for name in NAMES {
        assert!(
            read_model::wait_for(&log.pool, name.as_str(), last, Duration::from_secs(20))
                .await
                .unwrap()
        );
    }
    shutdown.cancel();
    while let Some(ended) = others.join_next().await {
        ended.unwrap();
    }
    let mut all = shop(0, 200);
    all.extend(shop(1000, 120));
    assert_eq!(tables(&log).await, tables(&told(&all).await).await);
}

#[tokio::test]
async fn one_rebuild_of_a_read_model_at_a_time() {
    let log = told(&shop(0, 5)).await;
    let (one, two) = tokio::join!(
        rebuild(&log.pool, Name::Orders, &quiet),
        rebuild(&log.pool, Name::Orders, &quiet)
    );
    let outcomes = [one.map(drop), two.map(drop)];
    assert!(outcomes.iter().any(Result::is_ok));
    for outcome in outcomes {
        if let Err(error) = outcome {
            assert_eq!(error.code(), "projection_busy");
        }
    }
}

#[tokio::test]
async fn an_exchange_that_readers_hold_up_waits_for_them() {
    let log = told(&shop(0, 5)).await;
    let mut reader = log.pool.begin().await.unwrap();
    let _: i64 = sqlx::query_scalar("select count(*) from orders")
        .fetch_one(&mut *reader)
        .await
        .unwrap();
    let pool = log.pool.clone();
    let rebuilding = tokio::spawn(async move { rebuild(&pool, Name::Orders, &quiet).await });
    tokio::time::sleep(Duration::from_millis(700)).await;
    // Behind a lock that is only waited for, other readers would queue: it must be let go of in between.
    let count: i64 = sqlx::query_scalar("select count(*) from orders")
        .fetch_one(&log.pool)
        .await
        .unwrap();
    assert!(count > 0);
    assert!(!rebuilding.is_finished());
    reader.rollback().await.unwrap();
    rebuilding.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_stopped_projection_cannot_be_rebuilt_past_its_event() {
    let mut log = told(&shop(0, 5)).await;
    let bad = log
        .append(&[(
            "order",
            crate::stories::id(1, 77),
            serde_json::json!({ "type": "order.unheard_of" }),
        )])
        .await;
    let error = rebuild(&log.pool, Name::Orders, &quiet).await.unwrap_err();
    let ProjectionError::Stopped(stop) = error else {
        panic!("{error}")
    };
    assert_eq!(stop.position, bad);
    assert!(checkpoint::position(&log.pool, "orders").await.unwrap().unwrap() < bad);
}

#[tokio::test]
async fn b61_a_rebuild_has_no_effect_beside_its_rows() {
    let log = told(&shop(0, 40)).await;
    crate::outbox_rows::write(&log.pool, "order.paid", &[crate::outbox_rows::opened(1, 1)]).await;
    let counts = "select array[(select count(*) from events), (select count(*) from outbox), (select count(*) from public.river_job),
                         (select count(*) from operator_notices), (select count(*) from outbox where published_at is null)]";
    let before: Vec<i64> = sqlx::query_scalar(counts).fetch_one(&log.pool).await.unwrap();
    for name in NAMES {
        rebuild(&log.pool, name, &quiet).await.unwrap();
    }
    let after: Vec<i64> = sqlx::query_scalar(counts).fetch_one(&log.pool).await.unwrap();
    assert_eq!(before, after);
}
