//! One publisher at a time, whatever happens to it.

use std::time::{Duration, Instant};

use sqlx::{Connection as _, PgConnection, PgPool};
use uuid::Uuid;

use crate::{
    log::Log,
    outbox_rows::{OPENED, Running, UNPUBLISHED, job_order, opened, until, write},
};

const SOON: Duration = Duration::from_secs(30);
/// Sessions that hold the publisher's lock.
const HOLDERS: &str = "select count(*) from pg_locks where locktype = 'advisory' and classid = 252706818 and granted
    and database = (select oid from pg_database where datname = current_database())";

async fn terminate_holder(owner: &PgPool) -> usize {
    let ended: Vec<bool> = sqlx::query_scalar(
        "select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and classid = 252706818 and granted
            and database = (select oid from pg_database where datname = current_database())",
    )
    .fetch_all(owner)
    .await
    .unwrap();
    ended.len()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b55_three_publishers_and_one_killed_now_and_then_hand_every_row_over_once_and_in_order() {
    let log = Log::new().await;
    let publishers: Vec<Running> = (0..3).map(|_| Running::start(&log)).collect();
    let mut killed = 0;
    for part in 0..25_u32 {
        let rows: Vec<_> = (0..200).map(|n| opened(n, part * 200 + n)).collect();
        write(&log.pool, OPENED, &rows).await;
        if part % 5 == 2 {
            killed += terminate_holder(&log.owner).await;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    until(&log.pool, UNPUBLISHED, 0, SOON).await;
    for publisher in publishers {
        publisher.stop().await;
    }
    assert!(killed >= 2, "{killed} were killed");
    let jobs = job_order(&log.pool).await;
    assert_eq!(jobs.len(), 5000);
    for stream in 0..200_u128 {
        let of: Vec<u128> = jobs
            .iter()
            .map(Uuid::as_u128)
            .filter(|job| job % 200 == stream)
            .collect();
        assert_eq!(of.len(), 25, "each event of stream {stream} is one job");
        assert!(of.is_sorted(), "stream {stream}: {of:?}");
    }
}

#[tokio::test]
async fn a_killed_publisher_is_followed_by_another_within_moments() {
    let log = Log::new().await;
    let publishers = [Running::start(&log), Running::start(&log)];
    until(&log.owner, HOLDERS, 1, SOON).await;
    assert_eq!(terminate_holder(&log.owner).await, 1);
    let start = Instant::now();
    write(&log.pool, OPENED, &[opened(1, 1)]).await;
    until(&log.pool, UNPUBLISHED, 0, SOON).await;
    assert!(start.elapsed() < Duration::from_secs(3), "{:?}", start.elapsed());
    until(&log.owner, HOLDERS, 1, SOON).await;
    for publisher in publishers {
        publisher.stop().await;
    }
}

#[tokio::test]
async fn a_stopped_publisher_loses_the_lock_by_its_sessions_own_limit() {
    let log = Log::new().await;
    // A process that took the lock and then does nothing at all, as one that was sent SIGSTOP.
    let mut stopped = PgConnection::connect(&log.database.url).await.unwrap();
    sqlx::raw_sql("set idle_session_timeout = '3s'; select pg_advisory_lock(252706818, 1)")
        .execute(&mut stopped)
        .await
        .unwrap();
    let publisher = Running::start(&log);
    write(&log.pool, OPENED, &[opened(1, 1)]).await;
    let start = Instant::now();
    until(&log.pool, UNPUBLISHED, 0, SOON).await;
    assert!(start.elapsed() < Duration::from_secs(6), "{:?}", start.elapsed());
    publisher.stop().await;
    assert!(sqlx::query("select 1").execute(&mut stopped).await.is_err());
}

#[tokio::test]
async fn the_publishers_session_has_the_limits_that_free_its_lock() {
    let log = Log::new().await;
    let publisher = Running::start(&log);
    until(&log.owner, HOLDERS, 1, SOON).await;
    publisher.stop().await;
    // Stopping is polite: the lock is free at once, not when the server notices.
    until(&log.owner, HOLDERS, 0, Duration::from_secs(2)).await;
}
