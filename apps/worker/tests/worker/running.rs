//! With the queue's own client: what only shows when jobs really run.

use std::time::Duration;

use chrono::TimeDelta;
use domain::entitlement::RemoteStatus;
use ports::clock::Clock;
use queue::FulfillmentArgs;
use tokio::time::{Instant, sleep};

use crate::support::{Script, Stage};

/// Until a count is reached.
async fn until(stage: &Stage, sql: &'static str, wanted: i64, within: Duration) {
    let end = Instant::now() + within;
    let mut seen = stage.count(sql).await;
    while seen != wanted {
        assert!(Instant::now() < end, "{seen} instead of {wanted}: {sql}");
        sleep(Duration::from_millis(20)).await;
        seen = stage.count(sql).await;
    }
}

const DONE: &str =
    "select count(*) from fulfillment_operations where status = 'succeeded' and operation <> 'reconcile'";

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn b44_no_transaction_is_open_while_the_panel_is_slow() {
    let stage = Stage::racing().await;
    for _ in 0..16 {
        stage.panel.then(Script::Slow(Duration::from_secs(4)));
        stage.purchase().await;
    }
    let worker = stage.worker("b44");
    until(
        &stage,
        "select count(*) from fulfillment_operations where status = 'running'",
        16,
        Duration::from_secs(5),
    )
    .await;
    let end = Instant::now() + Duration::from_secs(3);
    while Instant::now() < end {
        let open = stage
            .count(
                "select count(*) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
                 and state = 'idle in transaction' and state_change < clock_timestamp() - interval '200 ms'",
            )
            .await;
        assert_eq!(open, 0);
        sleep(Duration::from_millis(50)).await;
    }
    until(&stage, DONE, 16, Duration::from_secs(10)).await;
    worker.stop().await.unwrap();
    assert_eq!(stage.panel.users().len(), 16);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_newer_of_two_operations_wins_although_the_first_call_is_slow() {
    let stage = Stage::racing().await;
    let first = stage.purchase().await;
    stage.run(first.operation_id).await.unwrap();
    stage.panel.then(Script::Slow(Duration::from_secs(2)));
    let (one, other) = (stage.worker("one"), stage.worker("other"));
    stage.extend(first).await;
    sleep(Duration::from_millis(300)).await;
    stage.extend(first).await;
    until(&stage, DONE, 3, Duration::from_secs(15)).await;
    let expected = stage.clock.now() + TimeDelta::days(90) + TimeDelta::hours(1);
    assert_eq!(stage.panel.users()[0].expire_at, expected);
    one.stop().await.unwrap();
    other.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_request_that_lands_after_its_writer_was_killed_is_undone() {
    let stage = Stage::racing().await;
    let first = stage.purchase().await;
    stage.run(first.operation_id).await.unwrap();
    // The writer of the older state sends it and dies; the panel works on it for a while.
    let older = stage.extend(first).await;
    let run = stage.fetch(older.operation_id).await;
    let job = service::fulfillment::JobRef {
        job_id: run.job_id,
        attempt: run.attempt,
    };
    let service::fulfillment::Claim::Run(claimed) = stage.fulfillment.claim(job, older.operation_id).await.unwrap()
    else {
        panic!("not claimed")
    };
    stage.panel.then(Script::LateUnanswered(Duration::from_secs(2)));
    let mut sender = worker::push::Sender::new(Instant::now(), run.cancelled.clone());
    worker::push::push(&mut sender, &stage.panel, &claimed, stage.clock.now())
        .await
        .unwrap_err();
    sqlx::query("update subscription_leases set expires_at = now()")
        .execute(&stage.pool)
        .await
        .unwrap();
    // A newer one takes over and is done before the old request lands.
    let newer = stage.extend(first).await;
    stage.run(newer.operation_id).await.unwrap();
    let wanted = stage.panel.users()[0].expire_at;
    sleep(Duration::from_millis(2500)).await;
    assert!(stage.panel.users()[0].expire_at < wanted, "the old request landed last");
    sqlx::query("update river_job set state = 'available' where state = 'running'")
        .execute(&stage.pool)
        .await
        .unwrap();
    let worker = stage.worker("heals");
    until(&stage, DONE, 3, Duration::from_secs(10)).await;
    assert_eq!(
        stage.panel.users()[0].expire_at,
        wanted,
        "the older operation pushed once more, and it pushed what is desired now"
    );
    worker.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn b65_a_stop_hands_back_what_it_cut_off_at_no_cost() {
    let stage = Stage::racing().await;
    let paid = stage.purchase().await;
    stage.panel.then(Script::Slow(Duration::from_mins(1)));
    let worker = stage.worker("stops");
    until(
        &stage,
        "select count(*) from fulfillment_operations where status = 'running'",
        1,
        Duration::from_secs(5),
    )
    .await;
    let begun = Instant::now();
    worker.stop().await.unwrap();
    assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
    let operation = stage.operation(paid.operation_id).await;
    assert_eq!(
        (operation.status.as_str(), operation.attempt_count, operation.unanswered),
        ("retrying", 0, true)
    );
    assert_eq!(stage.job_state(paid.operation_id).await, "available");
    assert_eq!(
        stage
            .count("select attempt::bigint from river_job where kind = 'fulfillment'")
            .await,
        0,
        "not burnt"
    );
    let next = stage.worker("goes on");
    until(&stage, DONE, 1, Duration::from_secs(5)).await;
    next.stop().await.unwrap();
    assert_eq!(stage.panel.users().len(), 1);
    assert_eq!(stage.panel.users()[0].status, RemoteStatus::Active);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn b10_a_job_of_an_unknown_kind_stays_for_a_worker_that_knows_it() {
    let stage = Stage::racing().await;
    sqlx::query(
        "insert into river_job (kind, args, queue, max_attempts) values ('fulfillment_v9', '{}', 'critical', 12)",
    )
    .execute(&stage.pool)
    .await
    .unwrap();
    stage.purchase().await;
    let mut worker = stage.worker("b10");
    worker.ready().await.unwrap();
    assert_eq!(
        worker.unhandled_kinds().await.unwrap(),
        ["fulfillment_v9"],
        "said at start"
    );
    let known = worker.known_kinds();
    until(&stage, DONE, 1, Duration::from_secs(10)).await;
    sleep(Duration::from_secs(2)).await;
    worker.stop().await.unwrap();
    let untouched =
        "select count(*) from river_job where kind = 'fulfillment_v9' and state = 'available' and attempt = 0";
    assert_eq!(stage.count(untouched).await, 1);
    assert_eq!(
        known.unhandled().await.unwrap(),
        ["fulfillment_v9"],
        "not ready while it waits"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn b64_an_equal_unique_key_stalls_nobody() {
    let stage = Stage::racing().await;
    let held = stage.purchase().await;
    sqlx::query("update river_job set state = 'retryable', attempt = 1, scheduled_at = now() + interval '1 hour'")
        .execute(&stage.pool)
        .await
        .unwrap();
    let args = FulfillmentArgs {
        operation_id: held.operation_id,
    };
    let mut conn = stage.pool.acquire().await.unwrap();
    let second = stage
        .queue
        .insert_after_in(&mut conn, &args, &serde_json::Map::new(), Duration::from_secs(1))
        .await
        .unwrap();
    assert!(
        second.skipped_as_duplicate,
        "its outcome is defined: it was not inserted"
    );
    drop(conn);
    for _ in 0..20 {
        stage.purchase().await;
    }
    let worker = stage.worker("b64");
    until(&stage, DONE, 20, Duration::from_secs(10)).await;
    worker.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn every_pass_runs_when_a_leader_starts_and_a_new_leader_does_not_repeat_them() {
    let stage = Stage::racing().await;
    let first = stage.worker("first");
    let passes = i64::try_from(worker::passes::TABLE.len()).unwrap();
    let ran = "select count(*) from pass_runs where outcome = 'succeeded'";
    until(&stage, ran, passes, Duration::from_secs(20)).await;
    first.stop().await.unwrap();
    let before: Vec<String> = sqlx::query_scalar("select task || started_at::text from pass_runs order by 1")
        .fetch_all(&stage.pool)
        .await
        .unwrap();
    let second = stage.worker("second");
    let again = "select count(*) / (select count(*) from pass_runs) from river_job where kind = 'periodic_task' and state = 'completed'";
    until(&stage, again, 2, Duration::from_secs(30)).await;
    second.stop().await.unwrap();
    let after: Vec<String> = sqlx::query_scalar("select task || started_at::text from pass_runs order by 1")
        .fetch_all(&stage.pool)
        .await
        .unwrap();
    assert_eq!(before, after);
}
