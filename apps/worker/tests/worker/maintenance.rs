//! Fulfillment while a window of maintenance is open: nothing is written to the panel, and nothing is counted.

use std::time::Duration;

use queue::Outcome;
use service::{MaintenanceView, SetMaintenance};
use store::history;

use crate::support::Stage;

const HOLD: Duration = Duration::from_mins(1);

async fn set(stage: &Stage, active: bool) -> MaintenanceView {
    let request = SetMaintenance {
        active,
        operator_id: "anna".to_owned(),
        reason: "new disks".to_owned(),
        notice_ru: String::new(),
        notice_en: String::new(),
        expected_return_at: None,
    };
    let view = stage
        .service()
        .set_maintenance(&service::Caller::new("operator:test", "request-1"), &request)
        .await
        .unwrap();
    // Another process learns of it a second later.
    tokio::time::sleep(Duration::from_millis(1_050)).await;
    view
}

async fn entries(stage: &Stage, operation_id: uuid::Uuid) -> Vec<history::Stored> {
    let mut conn = stage.pool.acquire().await.unwrap();
    history::list_in(&mut conn, operation_id).await.unwrap()
}

#[tokio::test]
async fn b67_holds_cost_no_attempt_and_are_one_row() {
    let stage = Stage::new().await;
    let paid = stage.purchase().await;
    set(&stage, true).await;
    for _ in 0..100 {
        assert_eq!(stage.run(paid.operation_id).await, Ok(Outcome::Snooze(HOLD)));
        let held = stage.operation(paid.operation_id).await;
        assert_eq!((held.status.as_str(), held.attempt_count), ("retrying", 0));
        assert_eq!(held.last_error_code.as_deref(), Some("maintenance_active"));
        let wait = held.wait().unwrap();
        assert!(
            wait <= HOLD && wait > HOLD.saturating_sub(Duration::from_secs(20)),
            "{wait:?}"
        );
        stage.due(paid.operation_id).await;
    }
    let told = entries(&stage, paid.operation_id).await;
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(
        (
            told[0].kind.as_str(),
            told[0].error_code.as_deref(),
            told[0].repeat_count
        ),
        ("hold", Some("maintenance_active"), 100)
    );
    assert!(stage.panel.writes().is_empty());
    assert_eq!(
        stage
            .count("select count(*) from operator_notices where kind = 'fulfillment_failure'")
            .await,
        0
    );
    let (attempt, metadata): (i16, i32) = sqlx::query_as("select attempt, length(metadata::text) from river_job")
        .fetch_one(&stage.pool)
        .await
        .unwrap();
    assert!(attempt == 0 && metadata < 8_192);

    set(&stage, false).await;
    assert_eq!(stage.run(paid.operation_id).await, Ok(Outcome::Done));
    let done = stage.operation(paid.operation_id).await;
    assert_eq!((done.status.as_str(), done.attempt_count), ("succeeded", 1));
    assert_eq!(stage.panel.writes().len(), 1);
}

#[tokio::test]
async fn a_hold_keeps_the_attempts_that_were_counted_before() {
    let stage = Stage::new().await;
    let paid = stage.purchase().await;
    let failure = crate::support::error(ports::panel::FailureKind::Transient, "remnawave_http_500");
    stage.panel.then(crate::support::Script::Fail(failure));
    assert!(stage.run(paid.operation_id).await.is_err());
    stage.due(paid.operation_id).await;
    set(&stage, true).await;
    for _ in 0..3 {
        assert_eq!(stage.run(paid.operation_id).await, Ok(Outcome::Snooze(HOLD)));
        assert_eq!(stage.operation(paid.operation_id).await.attempt_count, 1);
        stage.due(paid.operation_id).await;
    }
    set(&stage, false).await;
    assert_eq!(stage.run(paid.operation_id).await, Ok(Outcome::Done));
    assert_eq!(stage.operation(paid.operation_id).await.attempt_count, 2);
}

#[tokio::test]
async fn a_held_operation_leaves_the_subscription_free_and_may_be_cancelled() {
    let stage = Stage::new().await;
    let paid = stage.purchase().await;
    set(&stage, true).await;
    assert_eq!(stage.run(paid.operation_id).await, Ok(Outcome::Snooze(HOLD)));
    assert_eq!(
        stage
            .count("select count(*) from subscription_leases where released_at is null")
            .await,
        0
    );
    let caller = service::Caller::new("operator:anna", "request-1").because("wrong person");
    stage
        .service()
        .cancel_operation(&caller, paid.operation_id.into())
        .await
        .unwrap();
    assert_eq!(stage.operation(paid.operation_id).await.status, "cancelled");
    assert!(stage.panel.writes().is_empty());
}

#[tokio::test]
async fn a_run_lost_before_the_window_is_remembered_through_it() {
    let stage = Stage::new().await;
    let paid = stage.purchase().await;
    let run = stage.fetch(paid.operation_id).await;
    let job = service::fulfillment::JobRef {
        job_id: run.job_id,
        attempt: run.attempt,
    };
    // Claimed, perhaps sent, and never heard of again.
    let claim = stage.fulfillment.claim(job, paid.operation_id).await.unwrap();
    assert!(matches!(claim, service::fulfillment::Claim::Run(_)));
    stage.settle(&run, &Ok(Outcome::Snooze(Duration::ZERO))).await;
    sqlx::query("update subscription_leases set expires_at = clock_timestamp() - interval '1 second'")
        .execute(&stage.pool)
        .await
        .unwrap();
    set(&stage, true).await;
    assert_eq!(stage.run(paid.operation_id).await, Ok(Outcome::Snooze(HOLD)));
    assert!(stage.operation(paid.operation_id).await.unanswered);
    set(&stage, false).await;
    stage.due(paid.operation_id).await;
    assert_eq!(stage.run(paid.operation_id).await, Ok(Outcome::Done));
    let reconciles = stage
        .count("select count(*) from fulfillment_operations where operation = 'reconcile' and status = 'pending'")
        .await;
    assert_eq!(reconciles, 1, "what may land late is converged once more");
}
