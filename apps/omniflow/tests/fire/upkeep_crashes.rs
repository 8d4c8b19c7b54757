//! Passes, operators' doors and comparisons crash at each of their commit boundaries; what is done again is done once.

use std::time::Duration;

use domain::entitlement::remote_username;
use omniflow::driver::Bought;
use reqwest::Method;
use serde_json::json;

use crate::fire::{installation::Installation, panel};

const PATIENCE: Duration = Duration::from_secs(90);
/// A pass that was killed is on until its lease ends.
const LEASE_ENDS: &str = "update pass_runs set alive_until = clock_timestamp() where finished_at is null";

pub(crate) async fn passes_and_doors_that_crashed_at_a_commit_are_done_once() {
    let installation = Installation::start().await;
    let worker = installation.worker();
    let orders = [installation.buy_plan().await, installation.buy_plan().await];
    let (_, summary, _) = installation.settle(orders.len(), PATIENCE).await;
    assert_eq!(summary.fulfilled, 2, "{summary:?}");
    installation
        .until(
            "select count(*) from read.entitlements where applied_version > 0",
            2,
            PATIENCE,
        )
        .await;
    worker.kill();

    comparisons(&installation, &orders).await;
    window(&installation, &orders).await;
    dead_letters(&installation).await;
    retention(&installation).await;

    let plans = orders.map(|order| (order.id, order.subscription_id.expect("of a plan")));
    let verdict = installation.verdict(&plans, &[], &std::collections::BTreeSet::new());
    assert!(verdict.lost.is_empty() && verdict.duplicate_users == 0, "{verdict:?}");
    installation.verify();
}

/// A worker crashes, and what waits for its end (the rescue of its job, its lease) is waited for no longer.
async fn crash_worker(installation: &Installation, failpoint: &str) {
    installation.crash_worker(failpoint).await;
    for over in [
        "update river_job set state = 'available' where state = 'running'",
        "update subscription_leases set expires_at = clock_timestamp() where released_at is null",
    ] {
        installation.sql(over).await;
    }
}

/// The pass dies before it commits what it opened; then a worker dies before, and after, it recorded what it saw.
async fn comparisons(installation: &Installation, orders: &[Bought]) {
    const OPEN: &str = "select count(*) from fulfillment_operations where operation = 'reconcile'";
    const DRIFTS: &str = "select count(*) from entitlement_drifts";
    for order in orders {
        let username = remote_username(order.subscription_id.expect("of a plan").into());
        let edited = json!({ "username": username, "trafficLimitBytes": 7 });
        panel::by_hand(installation.path(), Method::PATCH, "/api/users", &edited).await;
    }
    installation
        .sql("update entitlement_checks set reconciled_at = null, tried_at = null")
        .await;
    let pass = ["passes", "run", "fulfillment_reconcile"];
    installation.crash(&pass, "reconcile.before_commit");
    assert_eq!(installation.count(OPEN).await, 0);
    installation.sql(LEASE_ENDS).await;
    installation.done(&pass);
    assert_eq!(installation.count(OPEN).await, 2);
    installation.done(&pass);
    assert_eq!(installation.count(OPEN).await, 2, "nobody is compared twice at once");

    crash_worker(installation, "fulfillment.looked_before_record").await;
    assert_eq!(installation.count(DRIFTS).await, 0);
    crash_worker(installation, "fulfillment.look_recorded_before_push").await;
    let seen = installation.count(DRIFTS).await;
    assert!(seen >= 1, "what was seen outlives who saw it");
    let worker = installation.worker();
    let corrected = "select count(*) from entitlement_drifts where status = 'resolved'";
    installation.until(corrected, 2, PATIENCE).await;
    installation
        .until(
            "select count(*) from fulfillment_operations where completed_at is null",
            0,
            PATIENCE,
        )
        .await;
    assert_eq!(installation.count(DRIFTS).await, 2, "one row a drift");
    worker.kill();
}

/// A window of maintenance: opened around a crash, and workers that crash while it holds their work back.
async fn window(installation: &Installation, orders: &[Bought]) {
    const OPENINGS: &str = "select count(*) from maintenance_events where action = 'activated'";
    const HELD: &str = "select count(*) from fulfillment_operations where last_error_code = 'maintenance_active'";
    for order in orders {
        let entitlement = order.entitlement_id.expect("of a plan").to_string();
        let change = [
            "entitlements",
            "change",
            &entitlement,
            "set_limits",
            "--devices",
            "3",
            "--reason",
            "drill",
        ];
        installation.done(&change);
    }
    let on = ["maintenance", "on", "--operator", "anna", "--reason", "drill"];
    installation.crash(&on, "maintenance.before_commit");
    assert_eq!(installation.count(OPENINGS).await, 0);
    installation.crash(&on, "maintenance.after_commit");
    assert_eq!(installation.count(OPENINGS).await, 1);
    installation.done(&on);
    assert_eq!(installation.count(OPENINGS).await, 1, "it was open");

    crash_worker(installation, "fulfillment.before_hold").await;
    assert_eq!(installation.count(HELD).await, 0);
    crash_worker(installation, "fulfillment.after_hold").await;
    assert!(installation.count(HELD).await >= 1);
    installation.done(&["maintenance", "off", "--operator", "anna"]);
    installation
        .sql("update fulfillment_operations set next_attempt_at = clock_timestamp() where completed_at is null")
        .await;
    let worker = installation.worker();
    let shown = "select count(*) from fulfillment_operations where operation = 'set_limits' and status = 'succeeded'";
    installation.until(shown, 2, 2 * PATIENCE).await;
    let spent =
        "select coalesce(max(attempt_count), 0)::bigint from fulfillment_operations where operation = 'set_limits'";
    assert_eq!(installation.count(spent).await, 1, "to be held back costs nothing");
    worker.kill();
}

/// A job of a kind that nobody knows was given up by the queue. Passes that were cut down with their workers may be beside it.
async fn dead_letters(installation: &Installation) {
    const RECORDED: &str = "select count(*) from dead_jobs";
    installation
        .sql(
            "insert into river_job (kind, queue, args, max_attempts, state, attempt, finalized_at)
             values ('of_a_later_version', 'default', '{}', 3, 'discarded', 3, now())",
        )
        .await;
    let pass = ["passes", "run", "dead_letter_sweep"];
    for (failpoint, more) in [("dead_letter.before_commit", 0), ("dead_letter.after_commit", 1)] {
        let before = installation.count(RECORDED).await;
        installation.crash(&pass, failpoint);
        assert_eq!(installation.count(RECORDED).await, before + more, "{failpoint}");
        installation.sql(LEASE_ENDS).await;
    }
    installation.done(&pass);
    for once in [
        "select count(*) from dead_jobs where kind = 'of_a_later_version'",
        "select count(*) from dead_letters where kind = 'of_a_later_version'",
    ] {
        assert_eq!(installation.count(once).await, 1, "{once}");
    }
}

/// What was to be removed is there until the removal is committed.
async fn retention(installation: &Installation) {
    const OLD: &str = "select count(*) from webhook_events where provider = 'drill'";
    installation
        .sql(
            "insert into webhook_events (provider, event_key, signature_valid, body_sha256, received_at, retain_until, status)
             values ('drill', 'old', true, sha256('x'), now() - interval '2 years', now() - interval '1 year', 'ignored')",
        )
        .await;
    let pass = ["passes", "run", "retention"];
    installation.crash(&pass, "retention.before_commit");
    assert_eq!(installation.count(OLD).await, 1);
    installation.sql(LEASE_ENDS).await;
    installation.done(&pass);
    assert_eq!(installation.count(OLD).await, 0);
}
