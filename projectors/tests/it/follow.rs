//! Following the log: rows appear, cursors move, and the order of batches does not matter.

use std::time::Duration;

use projectors::{batch::apply_in, operations_view::OperationsView, orders::Orders, runner::run_all};
use store::{Decoder, checkpoint, event_reader, read_model};
use tokio_util::sync::CancellationToken;

use crate::{
    catch_up::{follow, follow_all},
    log::Log,
    stories::{Goods, Purchase, shop},
};

#[tokio::test]
async fn a_purchase_shows_in_three_read_models() {
    let mut log = Log::new().await;
    let mut purchase = Purchase::new(1);
    log.append(&purchase.placed()).await;
    log.append(&purchase.asked()).await;
    log.append(&purchase.seen(9_000)).await;
    follow_all(&log).await;
    let order = log.rows("orders").await.remove(0);
    assert_eq!(
        (order["state"].as_str(), order["attention_count"].as_i64()),
        (Some("pending"), Some(1))
    );

    log.append(&purchase.settled()).await;
    log.append(&purchase.applied(0)).await;
    follow_all(&log).await;
    let order = log.rows("orders").await.remove(0);
    assert_eq!(
        (order["state"].as_str(), order["paid_minor"].as_i64()),
        (Some("fulfilled"), Some(10_000))
    );
    let entitlement = log.rows("entitlements").await.remove(0);
    assert_eq!(entitlement["open_operations"], 0);
    assert_eq!(
        (&entitlement["desired_version"], &entitlement["applied_version"]),
        (&1.into(), &1.into())
    );
    let operation = log.rows("operations_view").await.remove(0);
    assert_eq!(
        (operation["operation"].as_str(), operation["state"].as_str()),
        (Some("create"), Some("succeeded"))
    );
    assert_eq!(operation["subscription_id"], entitlement["subscription_id"]);
}

#[tokio::test]
async fn rows_say_what_the_folded_streams_say() {
    let mut log = Log::new().await;
    let mut goods: Vec<Goods> = (0..4).map(Goods::new).collect();
    for one in &mut goods {
        let mut said = one.owed();
        said.extend(one.submitted());
        said.extend(one.failed(domain::delivery::FailureClass::Ambiguous));
        log.append(&said).await;
    }
    for (one, verdict) in goods.iter_mut().zip([
        domain::delivery::Verdict::Delivered,
        domain::delivery::Verdict::NotDelivered,
    ]) {
        let said = one.delivery.tell(domain::delivery::Command::Resolve {
            verdict,
            reason: "looked".to_owned(),
            at: chrono::DateTime::UNIX_EPOCH,
        });
        log.append(&said).await;
    }
    follow_all(&log).await;
    for (row, one) in log.rows("deliveries").await.iter().zip(&goods) {
        let state = serde_json::to_value(&one.delivery.state.state).unwrap();
        assert_eq!(row["state"], state["state"]);
        let refund = one
            .delivery
            .state
            .refund_owed
            .map_or(0, domain::money::Money::amount_minor);
        assert_eq!(row["refund_owed_minor"], refund);
    }
}

#[tokio::test]
async fn the_batches_do_not_matter() {
    let mut whole = Log::new().await;
    let mut pieces = Log::new().await;
    for commit in shop(0, 30) {
        whole.append(&commit).await;
    }
    follow_all(&whole).await;
    for commit in shop(0, 30) {
        pieces.append(&commit).await;
        follow::<Orders>(&pieces).await;
        follow::<OperationsView>(&pieces).await;
    }
    follow_all(&pieces).await;
    for table in ["orders", "entitlements", "operations_view", "deliveries"] {
        let rows = whole.rows(table).await;
        assert!(!rows.is_empty(), "{table}");
        assert_eq!(rows, pieces.rows(table).await, "{table}");
    }
}

#[tokio::test]
async fn twice_equals_once() {
    let mut log = Log::new().await;
    for commit in shop(0, 20) {
        log.append(&commit).await;
    }
    follow_all(&log).await;
    let mut before = Vec::new();
    for table in ["orders", "entitlements", "operations_view", "deliveries"] {
        before.push(log.rows(table).await);
    }
    // As after a restore of the cursors alone: everything is met again, from everywhere.
    for position in [0, 7, 40] {
        sqlx::query("update projection_checkpoints set position = $1")
            .bind(position)
            .execute(&log.pool)
            .await
            .unwrap();
        follow_all(&log).await;
    }
    for (table, rows) in ["orders", "entitlements", "operations_view", "deliveries"]
        .into_iter()
        .zip(before)
    {
        assert_eq!(log.rows(table).await, rows, "{table}");
    }
}

#[tokio::test]
async fn the_cursor_moves_even_when_nothing_matched() {
    let mut log = Log::new().await;
    let last = log.append(&Goods::new(1).owed()).await;
    follow::<Orders>(&log).await;
    assert_eq!(checkpoint::position(&log.pool, "orders").await.unwrap(), Some(last));
    assert!(log.rows("orders").await.is_empty());
}

#[tokio::test]
async fn two_processes_follow_one_log_and_a_writer_can_wait_for_its_write() {
    let mut log = Log::new().await;
    let shutdown = CancellationToken::new();
    let mut processes = tokio::task::JoinSet::new();
    for _ in 0..2 {
        processes.spawn(run_all(log.pool.clone(), shutdown.clone()));
    }
    let mut last = 0;
    for commit in shop(0, 40) {
        last = log.append(&commit).await;
    }
    for table in ["orders", "entitlements", "operations_view", "deliveries"] {
        assert!(
            read_model::wait_for(&log.pool, table, last, Duration::from_secs(20))
                .await
                .unwrap(),
            "{table}"
        );
    }
    shutdown.cancel();
    while let Some(ended) = processes.join_next().await {
        ended.unwrap().unwrap();
    }
    let mut fresh = Log::new().await;
    for commit in shop(0, 40) {
        fresh.append(&commit).await;
    }
    follow_all(&fresh).await;
    for table in ["orders", "entitlements", "operations_view", "deliveries"] {
        assert_eq!(log.rows(table).await, fresh.rows(table).await, "{table}");
    }
}

#[tokio::test]
async fn b58_an_older_state_never_overwrites_a_newer_one() {
    let mut log = Log::new().await;
    let mut purchase = Purchase::new(1);
    for commit in [
        purchase.placed(),
        purchase.asked(),
        purchase.settled(),
        purchase.applied(0),
    ] {
        log.append(&commit).await;
    }
    follow::<Orders>(&log).await;
    let newest = log.rows("orders").await;
    // Another instance, late with what it read long ago.
    let mut connection = log.pool.acquire().await.unwrap();
    let old = event_reader::read_in(
        &mut connection,
        &Decoder::<domain::order::Order>::default(),
        0,
        i64::MAX,
        100,
    )
    .await
    .unwrap()
    .events;
    for until in 1..=old.len() {
        let stale = old.get(..until).unwrap();
        assert_eq!(apply_in::<Orders>(&mut connection, stale).await.unwrap(), None);
        assert_eq!(log.rows("orders").await, newest, "after {until} old events");
    }
}
