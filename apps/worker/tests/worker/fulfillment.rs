//! One run: what is pushed, and what is recorded.

use std::time::Duration;

use chrono::TimeDelta;
use domain::{
    entitlement::{RemoteStatus, remote_description, remote_username},
    ids::SubscriptionId,
    order,
};
use ports::{clock::Clock, panel::FailureKind};
use queue::{Failure, Outcome};

use crate::support::{Script, Stage};

#[tokio::test]
async fn a_paid_order_becomes_one_user_and_is_fulfilled() {
    let stage = Stage::new().await;
    let paid = stage.purchase().await;
    assert_eq!(stage.run(paid.operation_id).await, Ok(Outcome::Done));

    let users = stage.panel.users();
    assert_eq!(users.len(), 1);
    assert_eq!(
        users[0].username,
        remote_username(SubscriptionId::new(paid.subscription_id))
    );
    assert_eq!(
        users[0].expire_at,
        stage.clock.now() + TimeDelta::days(30) + TimeDelta::hours(1),
        "paid end plus grace"
    );
    assert_eq!(users[0].traffic_limit_bytes, 100 << 30);
    let entitlement = stage.entitlement(paid.entitlement_id).await;
    assert_eq!(
        (entitlement.applied_version, entitlement.remote_user_id),
        (1, Some(users[0].id))
    );
    assert_eq!(stage.order_state(paid.order_id).await, order::State::Fulfilled);
    assert_eq!(stage.operation(paid.operation_id).await.status, "succeeded");
    assert_eq!(stage.job_state(paid.operation_id).await, "completed");
    assert_eq!(
        stage
            .count("select count(*) from subscription_leases where released_at is null")
            .await,
        0
    );
}

#[tokio::test]
async fn an_extension_moves_the_end_of_the_same_user_and_starts_traffic_anew() {
    let stage = Stage::new().await;
    let first = stage.purchase().await;
    stage.run(first.operation_id).await.unwrap();
    let more = stage.extend(first).await;
    assert_eq!(stage.run(more.operation_id).await, Ok(Outcome::Done));
    let users = stage.panel.users();
    assert_eq!(users.len(), 1);
    assert_eq!(
        users[0].expire_at,
        stage.clock.now() + TimeDelta::days(60) + TimeDelta::hours(1)
    );
    assert_eq!(stage.panel.resets(), 1);
    assert_eq!(stage.order_state(more.order_id).await, order::State::Fulfilled);
}

#[tokio::test]
async fn an_operation_whose_version_is_shown_already_closes_without_a_call() {
    let stage = Stage::new().await;
    let first = stage.purchase().await;
    let more = stage.extend(first).await;
    stage.run(more.operation_id).await.unwrap();
    let writes = stage.panel.writes().len();
    assert_eq!(stage.run(first.operation_id).await, Ok(Outcome::Done));
    assert_eq!(stage.panel.writes().len(), writes);
    let closed = stage.operation(first.operation_id).await;
    assert_eq!(
        (closed.status.as_str(), closed.last_error_code.as_deref()),
        ("succeeded", Some("entitlement_superseded"))
    );
    assert_eq!(
        stage.order_state(first.order_id).await,
        order::State::Fulfilled,
        "with all effects of a success"
    );
    assert_eq!(stage.job_state(first.operation_id).await, "completed");
}

#[tokio::test]
async fn b34_a_lost_answer_of_a_creation_ends_with_one_user() {
    let stage = Stage::new().await;
    let paid = stage.purchase().await;
    stage.panel.then(Script::DoneUnanswered);
    assert_eq!(
        stage.run(paid.operation_id).await,
        Err(Failure::Retry {
            after: Duration::from_secs(10),
            code: "remnawave_timeout".to_owned()
        })
    );
    assert!(stage.operation(paid.operation_id).await.unanswered);
    stage.due(paid.operation_id).await;
    assert_eq!(stage.run(paid.operation_id).await, Ok(Outcome::Done));
    assert_eq!(stage.panel.users().len(), 1);
    assert_eq!(stage.operation(paid.operation_id).await.status, "succeeded");
    let reconciles = "select count(*) from fulfillment_operations where operation = 'reconcile' and status = 'pending'
                      and next_attempt_at between clock_timestamp() + interval '50 s' and clock_timestamp() + interval '60 s'";
    assert_eq!(
        stage.count(reconciles).await,
        1,
        "the lost request may land late: one look at it in a minute"
    );
    assert_eq!(
        stage
            .count("select count(*) from river_job where state = 'scheduled'")
            .await,
        1
    );
}

#[tokio::test]
async fn b34_a_foreign_user_of_that_name_is_left_alone() {
    let stage = Stage::new().await;
    let paid = stage.purchase().await;
    let name = remote_username(SubscriptionId::new(paid.subscription_id));
    let end = stage.clock.now() + TimeDelta::days(1);
    stage.panel.put(&name, Some("somebody else"), RemoteStatus::Active, end);
    assert_eq!(stage.run(paid.operation_id).await, Ok(Outcome::Done));
    let failed = stage.operation(paid.operation_id).await;
    assert_eq!(
        (failed.status.as_str(), failed.last_error_code.as_deref()),
        ("failed", Some("remote_username_foreign"))
    );
    assert_eq!(stage.panel.users()[0].expire_at, end, "untouched");
    assert!(stage.panel.writes().is_empty());
    assert_eq!(
        stage
            .count("select count(*) from operator_notices where kind = 'fulfillment_failure'")
            .await,
        1
    );
    assert_eq!(
        stage
            .count("select count(*) from dead_letters where resolved_at is null")
            .await,
        1
    );
    assert_eq!(stage.job_state(paid.operation_id).await, "discarded");
}

#[tokio::test]
async fn b34_a_user_of_ours_is_adopted_when_the_name_is_taken() {
    let stage = Stage::new().await;
    let paid = stage.purchase().await;
    let subscription = SubscriptionId::new(paid.subscription_id);
    stage.panel.put(
        &remote_username(subscription),
        Some(&remote_description(subscription)),
        RemoteStatus::Disabled,
        stage.clock.now(),
    );
    assert_eq!(stage.run(paid.operation_id).await, Ok(Outcome::Done));
    let users = stage.panel.users();
    assert_eq!(users.len(), 1);
    assert_eq!(
        users[0].status,
        RemoteStatus::Active,
        "what was paid for opens a user that was shut"
    );
}

#[tokio::test]
async fn a_user_that_vanished_is_made_anew() {
    let stage = Stage::new().await;
    let first = stage.purchase().await;
    stage.run(first.operation_id).await.unwrap();
    stage.panel.remove(stage.panel.users()[0].id);
    let more = stage.extend(first).await;
    assert_eq!(stage.run(more.operation_id).await, Ok(Outcome::Done));
    assert_eq!(stage.panel.users().len(), 1);
    assert_eq!(
        stage.entitlement(first.entitlement_id).await.remote_user_id,
        Some(stage.panel.users()[0].id)
    );
}

#[tokio::test]
async fn a_number_that_belongs_to_somebody_else_now_is_left_alone() {
    let stage = Stage::new().await;
    let first = stage.purchase().await;
    stage.run(first.operation_id).await.unwrap();
    let before = stage.panel.users()[0].clone();
    stage.panel.give_away(before.id, "a_stranger");
    let writes = stage.panel.writes().len();
    let more = stage.extend(first).await;
    assert_eq!(stage.run(more.operation_id).await, Ok(Outcome::Done));
    assert_eq!(stage.panel.writes().len(), writes, "nothing was sent");
    assert_eq!(stage.panel.users()[0].expire_at, before.expire_at, "untouched");
    assert_eq!(
        stage.operation(more.operation_id).await.last_error_code.as_deref(),
        Some("remote_username_foreign")
    );
}

#[tokio::test]
async fn a_scheduled_change_waits_without_an_attempt() {
    let stage = Stage::new().await;
    let later = stage.clock.now() + TimeDelta::hours(5);
    let paid = stage.purchase_for(later).await;
    for _ in 0..3 {
        assert_eq!(
            stage.run(paid.operation_id).await,
            Ok(Outcome::Snooze(Duration::from_hours(5)))
        );
    }
    assert_eq!(stage.operation(paid.operation_id).await.attempt_count, 0);
    assert_eq!(
        stage
            .count("select count(*) from fulfillment_history where repeat_count = 3")
            .await,
        1
    );
    stage.clock.advance(TimeDelta::hours(5));
    stage.due(paid.operation_id).await;
    assert_eq!(stage.run(paid.operation_id).await, Ok(Outcome::Done));
}

#[tokio::test]
async fn an_unsupported_operation_fails_for_good_once() {
    let stage = Stage::new().await;
    let paid = stage.purchase().await;
    sqlx::query("update fulfillment_operations set operation = 'revoke'")
        .execute(&stage.pool)
        .await
        .unwrap();
    assert_eq!(stage.run(paid.operation_id).await, Ok(Outcome::Done));
    let failed = stage.operation(paid.operation_id).await;
    assert_eq!(
        (failed.status.as_str(), failed.last_error_code.as_deref()),
        ("failed", Some("unsupported_operation"))
    );
    assert!(stage.panel.writes().is_empty());
    assert_eq!(stage.job_state(paid.operation_id).await, "cancelled");
    assert_eq!(stage.count("select count(*) from operator_notices").await, 1);
    let report = stage.fulfillment.revive().await.unwrap();
    assert_eq!(report.found, 0, "never revived");
    assert_eq!(stage.count("select count(*) from dead_letters").await, 1);
}

#[tokio::test]
async fn a_stream_that_cannot_be_read_fails_its_operation_visibly() {
    let stage = Stage::new().await;
    let paid = stage.purchase().await;
    let owner = sqlx::PgPool::connect(&stage.db.owner_url).await.unwrap();
    sqlx::raw_sql(
        "alter table events disable trigger user;
         update events set payload = '{\"type\":\"entitlement.granted\"}' where event_type = 'entitlement.granted';
         alter table events enable trigger user",
    )
    .execute(&owner)
    .await
    .unwrap();
    assert_eq!(stage.run(paid.operation_id).await, Ok(Outcome::Done));
    let failed = stage.operation(paid.operation_id).await;
    assert_eq!(
        (failed.status.as_str(), failed.last_error_code.as_deref()),
        ("failed", Some("invalid_desired_state"))
    );
    assert_eq!(
        failed.attempt_count, 1,
        "one attempt, because twelve would find the same"
    );
    assert_eq!(stage.job_state(paid.operation_id).await, "cancelled");
    assert_eq!(stage.count("select count(*) from operator_notices").await, 1);
    let told = "select count(*) from operator_notices where payload - array['entitlementId', 'operation', 'errorCode', 'status'] = '{}'
                and payload ->> 'errorCode' = 'invalid_desired_state' and payload ->> 'status' = 'failed'";
    assert_eq!(stage.count(told).await, 1, "what the seeds name, and nothing else");
}

#[tokio::test]
async fn b46_a_rate_limit_costs_nothing_and_stops_the_siblings_too() {
    let stage = Stage::new().await;
    let (one, other) = (stage.purchase().await, stage.purchase().await);
    let limited = FailureKind::RateLimited {
        retry_after: Some(Duration::from_secs(30)),
    };
    stage
        .panel
        .then(Script::Fail(crate::support::error(limited, "remnawave_http_429")));
    assert_eq!(
        stage.run(one.operation_id).await,
        Ok(Outcome::Snooze(Duration::from_secs(30)))
    );
    assert_eq!(stage.operation(one.operation_id).await.attempt_count, 0);
    let writes = stage.panel.writes().len();
    assert!(matches!(stage.run(other.operation_id).await, Ok(Outcome::Snooze(span)) if span > Duration::from_secs(28)));
    assert_eq!(stage.panel.writes().len(), writes);
}

#[tokio::test]
async fn an_end_that_has_passed_shuts_the_user() {
    let stage = Stage::new().await;
    let first = stage.purchase().await;
    stage.run(first.operation_id).await.unwrap();
    let more = stage.extend(first).await;
    stage.clock.advance(TimeDelta::days(100));
    assert_eq!(stage.run(more.operation_id).await, Ok(Outcome::Done));
    assert_eq!(stage.panel.users()[0].status, RemoteStatus::Disabled);
}
