//! The database server is killed while orders flow.

use std::time::Duration;

use ports::ids::{Ids as _, SystemIds};
use rustix::process::{Pid, Signal, kill_process};
use tokio::task::JoinSet;
use uuid::Uuid;

use crate::{
    api_crashes::ask_patiently,
    installation::{Installation, PLAN},
};

const LANES: usize = 4;
const ORDERS_A_LANE: usize = 25;
const ORDERS: usize = LANES * ORDERS_A_LANE;

fn buy(installation: &Installation) -> JoinSet<Vec<(Uuid, Uuid)>> {
    let mut buying = JoinSet::new();
    for _ in 0..LANES {
        let shop = installation.shop();
        buying.spawn(async move {
            let mut paid = Vec::new();
            for _ in 0..ORDERS_A_LANE {
                let placed = shop.buy_plan(SystemIds.next(), SystemIds.next(), PLAN).await;
                let order = placed.expect("placed in the end");
                let payment = ask_patiently(shop.clone(), SystemIds.next(), order.id, "manual").await;
                let approved = shop.approve(SystemIds.next(), payment.id).await;
                approved.expect("settled in the end");
                paid.push((order.id, order.subscription_id.expect("of a plan")));
            }
            paid
        });
    }
    buying
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_database_server_costs_nothing_but_time() {
    let mut installation = Installation::start().await;
    let mut workers = [installation.worker(), installation.worker()];
    // A worker that finds no database at its start ends, and is started again by whoever watches it: not what this is about.
    installation.buy_plan().await;
    let (_, summary, _) = installation.settle(1, Duration::from_secs(60)).await;
    assert_eq!(summary.fulfilled, 1, "the workers work");
    let mut buying = buy(&installation);
    for pause in [1_500, 2_500] {
        tokio::time::sleep(Duration::from_millis(pause)).await;
        let server = Pid::from_raw(installation.server().pid()).expect("a process");
        kill_process(server, Signal::KILL).expect("it is ours to kill");
        tokio::time::sleep(Duration::from_millis(300)).await;
        installation.server().restart().await;
    }
    let mut plans = Vec::new();
    while let Some(lane) = buying.join_next().await {
        plans.extend(lane.expect("no buyer fails"));
    }
    assert_eq!(plans.len(), ORDERS);
    let (took, summary, parked) = installation.settle(ORDERS + 1, Duration::from_secs(90)).await;
    eprintln!("settled {:.1} s after the last order: {summary:?}", took.as_secs_f64());
    let verdict = installation.verdict(&plans, &[], &parked);
    assert!(verdict.lost.is_empty() && verdict.duplicate_users == 0, "{verdict:?}");
    assert_eq!((summary.fulfilled, parked.len()), (101, 0));
    assert!(installation.api_runs(), "the API ended by itself");
    assert!(
        workers.iter_mut().all(crate::process::Process::runs),
        "a worker ended by itself"
    );
    installation.verify();
}
