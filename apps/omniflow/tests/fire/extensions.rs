//! Many changes of few subscriptions, worked off by three workers of which one is killed every few seconds.

use std::time::Duration;

use omniflow::driver::Shop;
use ports::ids::{Ids as _, SystemIds};
use rand::{Rng as _, SeedableRng as _, rngs::StdRng};
use sqlx::PgPool;
use tokio::task::JoinSet;
use uuid::Uuid;

use crate::fire::{
    installation::{Installation, PLAN},
    panel,
};

const LANES: usize = 4;
const SUBSCRIPTIONS_A_LANE: usize = 6;
/// The purchase is the first.
const ORDERS_A_SUBSCRIPTION: usize = 5;
const ORDERS: usize = LANES * SUBSCRIPTIONS_A_LANE * ORDERS_A_SUBSCRIPTION;
const LEAST_KILLS: usize = 4;

/// Buys subscriptions, then extends each in turn; answers (order, subscription).
async fn buy_and_extend(shop: Shop) -> Vec<(Uuid, Uuid)> {
    let mut paid = Vec::new();
    let mut bought = Vec::new();
    for _ in 0..SUBSCRIPTIONS_A_LANE {
        let customer = SystemIds.next();
        let order = shop.buy_plan(SystemIds.next(), customer, PLAN).await.expect("placed");
        settle(&shop, order.id).await;
        let subscription = order.subscription_id.expect("a plan order has a subscription");
        let entitlement = order.entitlement_id.expect("a plan order has an entitlement");
        paid.push((order.id, subscription));
        bought.push((customer, entitlement, subscription));
    }
    for _ in 1..ORDERS_A_SUBSCRIPTION {
        for (customer, entitlement, subscription) in &bought {
            let placed = shop.extend(SystemIds.next(), *customer, PLAN, *entitlement).await;
            let order = placed.expect("placed");
            settle(&shop, order.id).await;
            paid.push((order.id, *subscription));
        }
    }
    paid
}

async fn settle(shop: &Shop, order: Uuid) {
    let payment = shop.ask_for_money(SystemIds.next(), order, "manual").await;
    let approved = shop.approve(SystemIds.next(), payment.expect("asked for").id).await;
    approved.expect("settled");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b55_every_change_becomes_one_job_in_order_and_the_panel_ends_with_the_newest() {
    let seed = rand::random::<u64>();
    eprintln!("seed {seed}");
    let mut random = StdRng::seed_from_u64(seed);
    let installation = Installation::start().await;
    let mut workers: Vec<_> = (0..3).map(|_| installation.worker()).collect();
    let mut buying = JoinSet::new();
    for _ in 0..LANES {
        buying.spawn(buy_and_extend(installation.shop()));
    }
    let mut plans = Vec::new();
    let mut kills = 0;
    while !buying.is_empty() || kills < LEAST_KILLS {
        tokio::time::sleep(Duration::from_millis(random.random_range(1_500..4_000))).await;
        let victim = random.random_range(0..workers.len());
        workers.remove(victim).kill();
        workers.push(installation.worker());
        kills += 1;
        while let Some(lane) = buying.try_join_next() {
            plans.extend(lane.expect("no buyer fails"));
        }
    }
    let (took, summary, parked) = installation.settle(ORDERS, Duration::from_secs(60)).await;
    eprintln!(
        "{kills} kills; settled {:.1} s after the last: {summary:?}",
        took.as_secs_f64()
    );

    assert_eq!(plans.len(), ORDERS);
    assert_eq!((summary.fulfilled, parked.len()), (120, 0), "not all settled in time");
    let verdict = installation.verdict(&plans, &[], &parked);
    assert!(verdict.lost.is_empty() && verdict.duplicate_users == 0, "{verdict:?}");
    assert_eq!(jobs_and_their_operations(&installation.pool).await, (120, 120));
    assert_eq!(jobs_out_of_order(&installation.pool).await, 0);
    for (_, subscription) in &plans {
        let shown = panel::expiries(installation.path(), *subscription)
            .pop()
            .expect("shown");
        let wanted = panel::newest_expiry(&installation.pool, *subscription).await;
        assert!(panel::same(shown, wanted), "{subscription}: {shown}, not {wanted}");
    }
    installation.verify();
}

/// Jobs of paid changes, and how many changes they are for.
async fn jobs_and_their_operations(pool: &PgPool) -> (i64, i64) {
    sqlx::query_as(
        "select count(*), count(distinct operation.operation_id) from river_job job
           join fulfillment_operations operation on operation.operation_id::text = job.args ->> 'operationId'
          where job.kind = 'fulfillment' and operation.order_id is not null",
    )
    .fetch_one(pool)
    .await
    .expect("the jobs can be read")
}

/// Jobs that were inserted before the job of an earlier event of the same entitlement.
async fn jobs_out_of_order(pool: &PgPool) -> i64 {
    sqlx::query_scalar(
        "select count(*) from (
           select job.id, lag(job.id) over (partition by event.aggregate_id order by event.sequence) as earlier
             from events event join river_job job on job.args ->> 'operationId' = event.payload ->> 'operationId'
            where event.event_type = 'entitlement.operation_opened' and event.payload ->> 'orderId' is not null
              and job.kind = 'fulfillment') routed
         where earlier > id",
    )
    .fetch_one(pool)
    .await
    .expect("the jobs can be read")
}
