#![cfg(test)]
//! Crashes between a commit and what follows from it, and what the metrics say. A binary of its own: fail points and the recorder of
//! metrics are the whole process's.

#[path = "it/catch_up.rs"]
mod catch_up;
#[path = "it/log.rs"]
#[expect(dead_code, reason = "shared with the other binary")]
mod log;
#[path = "it/outbox_rows.rs"]
#[expect(dead_code, reason = "shared with the other binary")]
mod outbox_rows;
#[path = "it/stories.rs"]
mod stories;

use std::time::{Duration, Instant};

use projectors::{
    Name, ProjectionError,
    orders::Orders,
    replay::{Progress, rebuild},
    runner::{Follower, run_all},
    verify::verify,
};
use store::checkpoint;
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use crate::{
    catch_up::follow_all,
    log::Log,
    outbox_rows::{OPENED, Running, UNPUBLISHED, opened, until, write},
    stories::{Purchase, shop},
};

/// One test at a time.
static TURN: Mutex<()> = Mutex::const_new(());

fn quiet(_: Progress) {}

#[tokio::test]
async fn b57_what_a_process_committed_before_it_died_is_followed_by_the_next() {
    let _turn = TURN.lock().await;
    let mut log = Log::new().await;
    for commit in shop(0, 10) {
        log.append(&commit).await;
    }
    follow_all(&log).await;
    // The process that appends dies right after its commit: nothing of it is left to tell anybody.
    let mut purchase = Purchase::new(77);
    let last = log.append(&purchase.placed()).await;
    // The process that follows dies between its rows and its commit.
    fail::cfg("projection.before_commit", "1*return").unwrap();
    let died = Follower::<Orders>::new(log.pool.clone()).step(last).await.unwrap_err();
    assert!(matches!(died, ProjectionError::Store(_)), "{died}");
    assert!(checkpoint::position(&log.pool, "orders").await.unwrap().unwrap() < last);
    assert_eq!(log.rows("orders").await.len(), 10, "neither row nor cursor moved");

    follow_all(&log).await;
    for name in projectors::NAMES {
        let verified = verify(&log.pool, name, &quiet).await.unwrap();
        assert_eq!(verified.difference_count, 0, "{name}: {:?}", verified.differences);
    }
    assert_eq!(log.rows("orders").await.len(), 11);
}

#[tokio::test]
async fn a_rebuild_that_dies_before_its_exchange_leaves_the_old_rows_and_is_gone_on_with() {
    let _turn = TURN.lock().await;
    let mut log = Log::new().await;
    for commit in shop(0, 10) {
        log.append(&commit).await;
    }
    follow_all(&log).await;
    let live = log.rows("orders").await;
    fail::cfg("rebuild.before_exchange_commit", "1*return").unwrap();
    let died = rebuild(&log.pool, Name::Orders, &quiet).await.unwrap_err();
    assert!(matches!(died, ProjectionError::Interrupted { .. }), "{died}");
    assert_eq!(log.rows("orders").await, live);
    let rebuilt = rebuild(&log.pool, Name::Orders, &quiet).await.unwrap();
    assert_eq!(
        (rebuilt.events, rebuilt.resumed_from > 0),
        (0, true),
        "every event had been applied"
    );
    assert_eq!(log.rows("orders").await, live);
}

#[tokio::test]
async fn b53_the_gauges_say_what_waits_and_what_stands_still() {
    let _turn = TURN.lock().await;
    let metrics = telemetry::Metrics::install("worker").unwrap();
    let said = |name: &str| -> String {
        let text = metrics.render();
        let line = text
            .lines()
            .find(|line| line.starts_with(name))
            .unwrap_or_else(|| panic!("no {name} in {text}"));
        line.rsplit(' ').next().unwrap().to_owned()
    };
    let mut log = Log::new().await;
    let bad = ("entitlement/1".to_owned(), serde_json::json!({}));
    write(&log.pool, OPENED, &[bad, opened(1, 1), opened(1, 2), opened(2, 3)]).await;
    let publisher = Running::start(&log);
    until(&log.pool, UNPUBLISHED, 3, Duration::from_secs(20)).await;
    tokio::time::sleep(Duration::from_millis(1500)).await;
    assert_eq!(said("omniflow_outbox_pending_events"), "3");
    assert_eq!(said("omniflow_outbox_blocked_streams"), "1");
    assert!(said("omniflow_outbox_oldest_age_seconds").parse::<f64>().unwrap() >= 1.0);
    assert_eq!(said("omniflow_outbox_published_total"), "1");
    publisher.stop().await;
    assert_eq!(
        said("omniflow_outbox_pending_events"),
        "0",
        "who does not publish does not count"
    );

    log.append(&[(
        "order",
        stories::id(1, 1),
        serde_json::json!({ "type": "order.unheard_of" }),
    )])
    .await;
    let shutdown = CancellationToken::new();
    let following = tokio::spawn(run_all(log.pool.clone(), shutdown.clone()));
    let stopped = "select count(*) from projection_checkpoints where failed_position is not null";
    until(&log.pool, stopped, 1, Duration::from_secs(20)).await;
    let series = |name: &str| format!("{name}{{service=\"worker\",projection=\"orders\"}}");
    let deadline = Instant::now() + Duration::from_secs(20);
    while said(&series("omniflow_projection_stopped")) != "1" {
        assert!(Instant::now() < deadline, "{}", metrics.render());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(said(&series("omniflow_projection_lag_events")), "1");
    assert!(said("omniflow_fence_lag_seconds").parse::<f64>().unwrap() < 5.0);
    shutdown.cancel();
    following.await.unwrap().unwrap();
}
