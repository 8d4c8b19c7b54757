#![cfg(test)]
//! Crashes between a commit and what follows from it. A binary of its own: fail points are the whole process's.

#[path = "it/catch_up.rs"]
mod catch_up;
#[path = "it/log.rs"]
#[expect(dead_code, reason = "shared with the other binary")]
mod log;
#[path = "it/stories.rs"]
mod stories;

use projectors::{
    Name, ProjectionError,
    orders::Orders,
    replay::{Progress, rebuild},
    runner::Follower,
    verify::verify,
};
use store::checkpoint;
use tokio::sync::Mutex;

use crate::{
    catch_up::follow_all,
    log::Log,
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
