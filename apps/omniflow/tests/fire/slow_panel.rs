//! Workers are killed, or told to stop, while a slow panel has their requests.

use std::time::Duration;

use sandbox::faults::{Fault, FaultRule, SimulatorName};
use sqlx::PgPool;
use tokio::time::Instant;
use uuid::Uuid;

use crate::fire::installation::Installation;

/// A rescue takes half a minute; the promise is a minute more.
const RECOVERED: Duration = Duration::from_secs(90);
const AT_ONCE: u32 = 5;

fn slow(route: &str, ms: u64) -> FaultRule {
    FaultRule::new(SimulatorName::Panel, route, Fault::slow(ms))
}

/// Waits until so many operations are with the panel.
async fn running(installation: &Installation, count: i64) {
    let now = "select count(*) from fulfillment_operations where status = 'running'";
    installation.until(now, count, Duration::from_secs(60)).await;
}

pub(crate) async fn b65_what_a_killed_worker_ran_ends_on_another_within_a_rescue_and_a_minute() {
    let installation = Installation::start().await;
    // Longer than the client waits: the request of the killed worker is carried out when another one may have been at it.
    let control = installation.control();
    let faults = [slow("POST /api/users", 9_000).at_most(u64::from(AT_ONCE))];
    control.set_faults(&faults).await.expect("set");
    let victim = installation.worker();
    let mut plans = Vec::new();
    for _ in 0..AT_ONCE {
        let order = installation.buy_plan().await;
        plans.push((order.id, order.subscription_id.expect("of a plan")));
    }
    running(&installation, i64::from(AT_ONCE)).await;
    let _other = installation.worker();
    victim.kill();
    let (took, summary, parked) = installation.settle(plans.len(), RECOVERED).await;
    eprintln!("b65: settled {:.1} s after the kill", took.as_secs_f64());
    assert_eq!(
        (summary.fulfilled, parked.len()),
        (i64::from(AT_ONCE), 0),
        "{summary:?}"
    );
    let verdict = installation.verdict(&plans, &[], &parked);
    assert!(verdict.lost.is_empty() && verdict.duplicate_users == 0, "{verdict:?}");
    installation.verify();
}

/// (status, attempts, the job's state, the job's attempts, whether the job is due) of the operation of an order.
async fn operation_and_job(pool: &PgPool, order: Uuid) -> (String, i32, String, i16, bool) {
    sqlx::query_as(
        "select operation.status, operation.attempt_count, job.state::text, job.attempt, job.scheduled_at <= clock_timestamp()
           from fulfillment_operations operation
           join river_job job on job.args ->> 'operationId' = operation.operation_id::text
          where operation.order_id = $1",
    )
    .bind(order)
    .fetch_one(pool)
    .await
    .expect("the operation has one job")
}

pub(crate) async fn b65_a_worker_that_is_told_to_stop_hands_its_work_back_at_once_and_at_no_cost() {
    let installation = Installation::start().await;
    // The look-up ends within the grace of ten seconds, the creation does not.
    let faults = [
        slow("GET /api/users/by-username/*", 8_000).at_most(1),
        slow("POST /api/users", 9_000).at_most(1),
    ];
    installation.control().set_faults(&faults).await.expect("set");
    let mut leaving = installation.worker();
    let order = installation.buy_plan().await;
    running(&installation, 1).await;
    tokio::time::sleep(Duration::from_secs(2)).await;
    leaving.terminate();
    let asked = Instant::now();
    let late = installation.buy_plan().await;
    let status = leaving.wait(Duration::from_secs(20)).await;
    eprintln!("stopped after {:.1} s: {status:?}", asked.elapsed().as_secs_f64());
    assert!(
        status.is_some_and(|status| status.success()),
        "not within its grace: {status:?}"
    );
    assert!(asked.elapsed() < Duration::from_secs(15));
    let left = operation_and_job(&installation.pool, order.id).await;
    assert_eq!(left, ("retrying".to_owned(), 0, "available".to_owned(), 0, true));
    let begun: i64 = sqlx::query_scalar(
        "select count(*) from fulfillment_history where operation_id in
            (select operation_id from fulfillment_operations where order_id = $1)",
    )
    .bind(late.id)
    .fetch_one(&installation.pool)
    .await
    .expect("read");
    assert_eq!(begun, 0, "work was fetched after the stop was asked for");

    let _next = installation.worker();
    let (took, summary, parked) = installation.settle(2, Duration::from_secs(30)).await;
    assert_eq!((summary.fulfilled, parked.len()), (2, 0), "{summary:?}");
    assert!(
        took < Duration::from_secs(20),
        "nothing waits for a lease or a rescue: {took:?}"
    );
    let plans = [order, late].map(|order| (order.id, order.subscription_id.expect("of a plan")));
    let verdict = installation.verdict(&plans, &[], &parked);
    assert!(verdict.lost.is_empty() && verdict.duplicate_users == 0, "{verdict:?}");
}
