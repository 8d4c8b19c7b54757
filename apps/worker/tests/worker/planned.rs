//! Changes for later, changes beside each other, and changes that nobody could have decided.

use std::time::Duration;

use chrono::TimeDelta;
use domain::entitlement::{Access, Asked, Outcome as Ended, RemoteStatus};
use ports::clock::Clock as _;
use queue::Outcome;
use service::{Caller, entitlements::ChangeRequest};

use crate::{
    changes::{done, limits, live, shown_on},
    support::{Script, Stage},
};

#[tokio::test]
async fn two_workers_run_two_operations_and_the_panel_ends_with_the_newest() {
    let (stage, paid) = shown_on(Stage::racing().await).await;
    let first = stage.ask(paid, limits(Some(5 << 30), None)).await;
    let second = stage.ask(paid, limits(Some(6 << 30), None)).await;
    stage.panel.then(Script::Slow(Duration::from_millis(50)));
    let (one, other) = tokio::join!(stage.run(first), stage.run(second));
    for (operation, ran) in [(first, one), (second, other)] {
        if ran != Ok(Outcome::Done) {
            assert!(matches!(ran, Ok(Outcome::Snooze(_))), "{ran:?}");
            assert_eq!(stage.run(operation).await, Ok(Outcome::Done));
        }
        assert_eq!(stage.operation(operation).await.status, "succeeded");
    }
    assert_eq!(stage.panel.users()[0].traffic_limit_bytes, 6 << 30);
    let overtaken = "select count(*) from fulfillment_operations where last_error_code = 'entitlement_superseded'";
    assert_eq!(stage.count(overtaken).await, 1, "one push was enough");
}

#[tokio::test]
async fn a_planned_change_waits_for_its_moment_at_no_cost_and_nobody_shows_it_before() {
    let (stage, paid) = live().await;
    let moment = stage.clock.now() + TimeDelta::days(20);
    let planned = stage
        .open(paid, ChangeRequest::Change(limits(Some(5 << 30), None)), Some(moment))
        .await;
    let twenty_days = Duration::from_hours(20 * 24);
    for _ in 0..2 {
        assert_eq!(stage.run(planned).await, Ok(Outcome::Snooze(twenty_days)));
    }
    let more = stage.extend(paid).await;
    done(&stage, more.operation_id).await;
    assert_eq!(stage.panel.users()[0].traffic_limit_bytes, 100 << 30);
    // Another process finds it, because nothing of it is in memory.
    stage.clock.advance(TimeDelta::days(20));
    stage.due(planned).await;
    assert_eq!(stage.fresh_jobs().run_on(&stage, planned).await, Ok(Outcome::Done));
    assert_eq!(stage.operation(planned).await.attempt_count, 1);
    let user = stage.panel.users().remove(0);
    assert_eq!(user.traffic_limit_bytes, 5 << 30);
    let state = stage.entitlement(paid.entitlement_id).await;
    assert_eq!((state.applied_version, state.desired_version()), (3, 3));
    assert_eq!(state.operations[&planned.into()].outcome, Ended::Succeeded);
}

#[tokio::test]
async fn whichever_run_comes_first_after_the_moment_shows_the_planned_change() {
    let (stage, paid) = live().await;
    let moment = stage.clock.now() + TimeDelta::hours(1);
    let planned = stage
        .open(paid, ChangeRequest::Change(Asked::Disable), Some(moment))
        .await;
    let more = stage.extend(paid).await;
    stage.clock.advance(TimeDelta::hours(1));
    done(&stage, more.operation_id).await;
    assert_eq!(stage.panel.users()[0].status, RemoteStatus::Disabled);
    let writes = stage.panel.writes().len();
    done(&stage, planned).await;
    assert_eq!(stage.panel.writes().len(), writes);
}

#[tokio::test]
async fn a_planned_change_that_is_cancelled_is_gone() {
    let (stage, paid) = live().await;
    let moment = stage.clock.now() + TimeDelta::hours(1);
    let planned = stage
        .open(paid, ChangeRequest::Change(Asked::Disable), Some(moment))
        .await;
    let caller = Caller::new("operator:1", "test").because("asked to");
    stage.service().cancel_operation(&caller, planned.into()).await.unwrap();
    stage.clock.advance(TimeDelta::hours(2));
    let reconcile = stage.open(paid, ChangeRequest::Reconcile, None).await;
    done(&stage, reconcile).await;
    assert_eq!(stage.panel.users()[0].status, RemoteStatus::Active);
    assert_eq!(stage.operation(planned).await.status, "cancelled");
    assert_eq!(stage.job_state(planned).await, "cancelled");
    let state = stage.entitlement(paid.entitlement_id).await;
    assert_eq!((state.access(), state.planned.len()), (Access::Open, 0));
}

#[tokio::test]
async fn limits_that_nobody_could_have_decided_end_their_operation_at_once() {
    let (stage, paid) = live().await;
    let operation = stage.ask(paid, limits(Some(5), None)).await;
    let owner = sqlx::PgPool::connect(&stage.db.owner_url).await.unwrap();
    sqlx::raw_sql(
        "alter table events disable trigger user;
         update events set payload = jsonb_set(payload, '{trafficBytes}', '-5') where event_type = 'entitlement.limits_changed';
         alter table events enable trigger user",
    )
    .execute(&owner)
    .await
    .unwrap();
    let writes = stage.panel.writes().len();
    assert_eq!(stage.run(operation).await, Ok(Outcome::Done));
    assert_eq!(stage.panel.writes().len(), writes, "nothing was sent");
    let failed = stage.operation(operation).await;
    assert_eq!((failed.status.as_str(), failed.attempt_count), ("failed", 1));
    assert_eq!(failed.last_error_code.as_deref(), Some("invalid_desired_state"));
    assert_eq!(stage.job_state(operation).await, "cancelled");
    assert_eq!(
        stage
            .count("select count(*) from operator_notices where kind = 'fulfillment_failure'")
            .await,
        1
    );
}
