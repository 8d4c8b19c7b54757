//! Workers die by SIGKILL while orders flow.

use std::time::Duration;

use rand::{Rng as _, SeedableRng as _, rngs::StdRng};
use tokio::task::JoinSet;
use uuid::Uuid;

use crate::installation::{Installation, PLAN, fresh_id};

const ORDERS: usize = 500;
const KILLS: usize = 20;

/// Buys plans one after another in a few lanes; each answers the (order, subscription) that was acknowledged as paid.
fn buy(installation: &Installation, lanes: usize, each: usize) -> JoinSet<Vec<(Uuid, Uuid)>> {
    let mut buying = JoinSet::new();
    for _ in 0..lanes {
        let shop = installation.shop();
        buying.spawn(async move {
            let mut paid = Vec::new();
            for _ in 0..each {
                let order = shop
                    .buy_plan(fresh_id(), fresh_id(), PLAN)
                    .await
                    .expect("the order is placed");
                let payment = shop
                    .ask_for_money(fresh_id(), order.id, "manual")
                    .await
                    .expect("the payment is asked for");
                shop.approve(fresh_id(), payment.id).await.expect("the payment settles");
                paid.push((
                    order.id,
                    order.subscription_id.expect("a plan order has a subscription"),
                ));
            }
            paid
        });
    }
    buying
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn workers_killed_twenty_times_during_five_hundred_orders_lose_and_double_nothing() {
    let seed = rand::random::<u64>();
    eprintln!("seed {seed}");
    let mut random = StdRng::seed_from_u64(seed);
    let installation = Installation::start().await;
    let mut workers = vec![installation.worker(), installation.worker()];

    let lanes = 4;
    let mut buying = buy(&installation, lanes, ORDERS / lanes);
    for _ in 0..KILLS {
        tokio::time::sleep(Duration::from_millis(random.random_range(300..1_500))).await;
        let victim = random.random_range(0..workers.len());
        workers.remove(victim).kill();
        workers.push(installation.worker());
    }
    let killed_last = std::time::Instant::now();
    let mut plans = Vec::new();
    while let Some(lane) = buying.join_next().await {
        plans.extend(lane.expect("no buyer fails"));
    }
    let patience = Duration::from_secs(60)
        .saturating_sub(killed_last.elapsed())
        .max(Duration::from_secs(30));
    let (_, summary, parked) = installation.settle(ORDERS, patience).await;
    eprintln!(
        "settled {:.1} s after the last kill: {summary:?}",
        killed_last.elapsed().as_secs_f64()
    );
    let verdict = installation.verdict(&plans, &[], &parked);
    assert_eq!(plans.len(), ORDERS);
    assert!(
        verdict.lost.is_empty() && verdict.duplicated.is_empty() && verdict.duplicate_users == 0,
        "{verdict:?}"
    );
    assert_eq!((summary.fulfilled, parked.len()), (500, 0), "not all settled in time");
    assert!(
        workers.iter_mut().all(crate::process::Process::runs),
        "a worker ended by itself"
    );
}
