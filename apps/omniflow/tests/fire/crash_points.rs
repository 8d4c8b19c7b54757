//! A worker crashes once at each of its failpoints.

use std::time::Duration;

use crate::fire::installation::Installation;

const POINTS: [&str; 6] = [
    "fulfillment.claimed_before_call",
    "fulfillment.called_before_record",
    "append.before_commit",
    "append.after_commit",
    "fulfillment.after_record",
    "projection.before_commit",
];

pub(crate) async fn a_worker_that_crashed_at_each_of_its_failpoints_loses_and_doubles_nothing() {
    let installation = Installation::start().await;
    let mut plans = Vec::new();
    for point in POINTS {
        let mut worker = installation.crashing_worker(&format!("{point}=1*panic"), &[]);
        let order = installation.buy_plan().await;
        plans.push((order.id, order.subscription_id.expect("of a plan")));
        let died = worker.wait(Duration::from_secs(60)).await;
        assert!(
            died.is_some_and(|status| !status.success()),
            "the worker did not crash at {point}"
        );
    }
    let mut worker = installation.worker();
    let (took, summary, parked) = installation.settle(plans.len(), Duration::from_secs(90)).await;
    eprintln!("settled {:.1} s after the last crash: {summary:?}", took.as_secs_f64());
    assert_eq!((summary.fulfilled, parked.len()), (6, 0), "{summary:?}");
    let verdict = installation.verdict(&plans, &[], &parked);
    assert!(verdict.lost.is_empty() && verdict.duplicate_users == 0, "{verdict:?}");

    let crash = [("FAILPOINTS", "rebuild.before_exchange_commit=1*panic".to_owned())];
    let crashed = installation.omniflow(&["projections", "replay", "orders"], &crash);
    assert!(!crashed.status.success(), "the rebuild did not crash");
    installation.verify();
    let rebuilt = installation.omniflow(&["projections", "replay", "orders"], &[]);
    assert!(rebuilt.status.success(), "{rebuilt:?}");
    installation.verify();
    assert!(worker.runs(), "the sound worker ended by itself");
}
