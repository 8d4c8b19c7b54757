//! Workers crash in both windows of a goods submission: recorded but not sent, and sent but its outcome not recorded.

use std::{collections::BTreeSet, time::Duration};

use omniflow::driver::Goods;
use uuid::Uuid;

use crate::installation::{Installation, fresh_id};

/// Crashes in each window.
const CRASHES: usize = 20;
const PRODUCT: &str = "stars-100";

/// Buys goods for a recipient of its own; answers (order, recipient).
async fn buy(installation: &Installation, name: String) -> (Uuid, String) {
    let shop = installation.shop();
    let goods = Goods {
        product: PRODUCT,
        username: &name,
    };
    let order = shop
        .buy_goods(fresh_id(), fresh_id(), goods)
        .await
        .expect("the order is placed");
    let payment = shop
        .ask_for_money(fresh_id(), order.id, "manual")
        .await
        .expect("the payment is asked for");
    shop.approve(fresh_id(), payment.id).await.expect("the payment settles");
    (order.id, name)
}

/// On an installation of its own, crashes in one window; every order of it must end parked, and the gateway must have been asked
/// so many times.
async fn crash_in(window: &str, asked: u64) {
    let installation = Installation::start().await;
    let mut orders = Vec::new();
    for number in 0..CRASHES {
        // One job at a time, so that a crash is a crash of exactly one order.
        let mut worker =
            installation.crashing_worker(&format!("{window}=1*panic"), &[("APP_QUEUE_CRITICAL_WORKERS", "1")]);
        orders.push(buy(&installation, format!("crashed_{number:02}")).await);
        let died = worker.wait(Duration::from_secs(60)).await;
        assert!(
            died.is_some_and(|status| !status.success()),
            "the worker did not crash in {window}"
        );
    }
    let _worker = installation.worker();
    let (took, summary, parked) = installation.settle(orders.len(), Duration::from_secs(180)).await;
    eprintln!(
        "{window}: settled {:.1} s after the last crash: {summary:?}",
        took.as_secs_f64()
    );
    let verdict = installation.verdict(&[], &orders, &parked);
    assert!(verdict.lost.is_empty() && verdict.duplicated.is_empty(), "{verdict:?}");
    let expected: BTreeSet<_> = orders.iter().map(|(order, _)| *order).collect();
    assert_eq!(parked, expected, "every crashed order waits for a person, and no other");
    assert_eq!((summary.needs_review, verdict.submissions), (20, asked), "{window}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crash_in_either_window_buys_once_at_most_and_parks_the_order() {
    let recorded_but_not_sent = tokio::spawn(crash_in("goods.claimed_before_call", 0));
    let sent_but_not_recorded = tokio::spawn(crash_in("goods.called_before_record", 20));
    recorded_but_not_sent.await.expect("the first window");
    sent_but_not_recorded.await.expect("the second window");
}
