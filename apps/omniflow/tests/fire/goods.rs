//! Workers crash in both windows of a goods submission: recorded but not sent, and sent but its outcome not recorded.

use std::{collections::BTreeSet, time::Duration};

use omniflow::driver::Goods;
use uuid::Uuid;

use crate::fire::installation::{Installation, fresh_id};

/// Crashes in each window. `omniflow chaos --goods-windows` has as many as one likes, without failpoints.
const CRASHES: usize = 5;
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

/// Crashes in one window, again and again; answers the orders, each with its recipient.
async fn crash_in(installation: &Installation, window: &str) -> Vec<(Uuid, String)> {
    let mut orders = Vec::new();
    for number in 0..CRASHES {
        // One job at a time, so that a crash is a crash of exactly one order.
        let mut worker =
            installation.crashing_worker(&format!("{window}=1*panic"), &[("APP_QUEUE_CRITICAL_WORKERS", "1")]);
        let name = format!("{}_{number:02}", window.replace('.', "_"));
        orders.push(buy(installation, name.chars().take(32).collect()).await);
        let died = worker.wait(Duration::from_secs(60)).await;
        assert!(
            died.is_some_and(|status| !status.success()),
            "the worker did not crash in {window}"
        );
    }
    orders
}

/// Every crashed order must end parked, and the gateway must have been asked for those of the second window only, once each.
pub(crate) async fn a_crash_in_either_window_buys_once_at_most_and_parks_the_order() {
    let installation = Installation::start().await;
    let unsent = crash_in(&installation, "goods.claimed_before_call").await;
    let sent = crash_in(&installation, "goods.called_before_record").await;
    let _worker = installation.worker();
    let orders = [unsent, sent.clone()].concat();
    let (took, summary, parked) = installation.settle(orders.len(), Duration::from_secs(180)).await;
    eprintln!(
        "goods: settled {:.1} s after the last crash: {summary:?}",
        took.as_secs_f64()
    );
    let verdict = installation.verdict(&[], &orders, &parked);
    assert!(verdict.lost.is_empty() && verdict.duplicated.is_empty(), "{verdict:?}");
    let expected: BTreeSet<_> = orders.iter().map(|(order, _)| *order).collect();
    assert_eq!(parked, expected, "every crashed order waits for a person, and no other");
    assert_eq!(summary.needs_review, 10);
    let asked = installation.verdict(&[], &sent, &parked);
    assert_eq!(
        (verdict.submissions, asked.delivered),
        (5, 5),
        "only what was sent was asked for"
    );
}
