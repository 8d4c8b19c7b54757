//! An event that cannot be projected stops its projection, visibly, and nothing is skipped.

use projectors::{ProjectionError, orders::Orders, runner::Follower};
use serde_json::json;
use store::checkpoint;

use crate::{
    catch_up::{follow, follow_all},
    log::Log,
    stories::{Purchase, id},
};

#[tokio::test]
async fn an_unreadable_event_stops_one_projection_after_everything_before_it() {
    let mut log = Log::new().await;
    let (mut first, mut second) = (Purchase::new(1), Purchase::new(2));
    log.append(&first.placed()).await;
    let bad = log
        .append(&[("order", id(1, 99), json!({ "type": "order.from_the_future" }))])
        .await;
    let last = log.append(&second.placed()).await;

    let mut follower = Follower::<Orders>::new(log.pool.clone());
    for _ in 0..2 {
        let error = follower.step(last).await.unwrap_err();
        let ProjectionError::Stopped(stop) = error else {
            panic!("{error}")
        };
        assert_eq!((stop.position, stop.code), (bad, "event_unreadable"));
        assert!(
            stop.detail.contains("order.from_the_future version 1"),
            "{}",
            stop.detail
        );
    }
    assert_eq!(
        log.rows("orders").await.len(),
        1,
        "what came before is there, what came after is not"
    );
    let stopped = checkpoint::list(&log.pool).await.unwrap().remove(0);
    assert_eq!((stopped.position, stopped.failed_position), (bad - 1, Some(bad)));
    assert_eq!(stopped.failed_code.as_deref(), Some("event_unreadable"));

    follow::<projectors::entitlements::Entitlements>(&log).await;
    assert_eq!(
        checkpoint::position(&log.pool, "entitlements").await.unwrap(),
        Some(last),
        "the others go on"
    );
}

#[tokio::test]
async fn an_event_of_a_row_that_is_not_there_stops_it_too() {
    let mut log = Log::new().await;
    let bad = log
        .append(&[(
            "order",
            id(1, 5),
            json!({ "type": "order.expired", "at": "2026-01-01T00:00:00Z" }),
        )])
        .await;
    let error = Follower::<Orders>::new(log.pool.clone()).step(bad).await.unwrap_err();
    assert_eq!(error.code(), "event_out_of_place");
}

#[tokio::test]
async fn data_that_the_table_refuses_is_narrowed_down_to_its_event() {
    let mut log = Log::new().await;
    let mut purchases: Vec<Purchase> = (1..=9).map(Purchase::new).collect();
    let mut positions = Vec::new();
    for purchase in &mut purchases {
        positions.push(log.append(&purchase.placed()).await);
    }
    sqlx::raw_sql("alter table read.orders add constraint not_the_fifth check (order_id <> '00000000-7000-0001-0000-000000000005')")
        .execute(&log.owner)
        .await
        .unwrap();
    let bad = id(1, 5);
    assert_eq!(bad.to_string(), "00000000-7000-0001-0000-000000000005");
    let mut follower = Follower::<Orders>::new(log.pool.clone());
    let mut stop = None;
    for _ in 0..30 {
        if let Err(ProjectionError::Stopped(at)) = follower.step(positions[8]).await {
            stop = Some(at);
            break;
        }
    }
    let stop = stop.unwrap();
    assert_eq!((stop.position, stop.code), (positions[4], "projection_row_refused"));
    assert_eq!(log.rows("orders").await.len(), 4);

    sqlx::raw_sql("alter table read.orders drop constraint not_the_fifth")
        .execute(&log.owner)
        .await
        .unwrap();
    follow_all(&log).await;
    assert_eq!(log.rows("orders").await.len(), 9);
    let orders = checkpoint::list(&log.pool)
        .await
        .unwrap()
        .into_iter()
        .find(|one| one.name == "orders")
        .unwrap();
    assert_eq!(orders.failed_position, None);
}
