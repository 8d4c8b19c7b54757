//! What an operator asks for while a run is under way, and after it.

use std::time::Duration;

use domain::entitlement::Outcome as Ended;
use ports::panel::FailureKind;
use queue::Outcome;
use service::{
    Caller,
    fulfillment::{CallFailure, Claim, Claimed, Handed, JobRef},
};
use tokio::time::Instant;

use crate::support::{Script, Stage, error};

fn operator() -> Caller {
    Caller::new("operator:1", "test").because("asked to")
}

async fn claim(stage: &Stage, operation_id: uuid::Uuid) -> Box<Claimed> {
    let run = stage.fetch(operation_id).await;
    let job = JobRef {
        job_id: run.job_id,
        attempt: run.attempt,
    };
    match stage.fulfillment.claim(job, operation_id).await.unwrap() {
        Claim::Run(claimed) => claimed,
        other => panic!("{other:?}"),
    }
}

fn failure(sent: bool) -> CallFailure {
    CallFailure {
        class: domain::fulfillment::FailureClass::Passing,
        code: "remnawave_unavailable".to_owned(),
        sent,
        unanswered: sent,
    }
}

#[tokio::test]
async fn a_running_operation_is_marked_and_its_run_ends_it_when_nothing_was_sent() {
    let stage = Stage::new().await;
    let paid = stage.purchase().await;
    let claimed = claim(&stage, paid.operation_id).await;
    stage
        .service()
        .cancel_operation(&operator(), paid.operation_id.into())
        .await
        .unwrap();
    assert!(stage.operation(paid.operation_id).await.cancel_requested);
    let until = Instant::now() + Duration::from_secs(5);
    let handed = stage
        .fulfillment
        .record_failure(&claimed, &failure(false), until)
        .await
        .unwrap();
    assert_eq!(handed, Handed::Ended);
    assert_eq!(stage.operation(paid.operation_id).await.status, "cancelled");
    assert_eq!(stage.job_state(paid.operation_id).await, "cancelled");
    let entitlement = stage.entitlement(paid.entitlement_id).await;
    assert_eq!(
        entitlement.operations[&paid.operation_id.into()].outcome,
        Ended::Cancelled
    );
    assert_eq!(
        stage
            .count("select count(*) from fulfillment_operations where operation = 'reconcile'")
            .await,
        0
    );
}

#[tokio::test]
async fn a_marked_operation_whose_request_was_sent_ends_at_its_next_turn_and_the_panel_is_looked_at() {
    let stage = Stage::new().await;
    let paid = stage.purchase().await;
    let claimed = claim(&stage, paid.operation_id).await;
    stage
        .service()
        .cancel_operation(&operator(), paid.operation_id.into())
        .await
        .unwrap();
    let until = Instant::now() + Duration::from_secs(5);
    let handed = stage
        .fulfillment
        .record_failure(&claimed, &failure(true), until)
        .await
        .unwrap();
    assert_eq!(handed, Handed::Retry(Duration::from_secs(10)));
    sqlx::query("update river_job set state = 'available' where state = 'running'")
        .execute(&stage.pool)
        .await
        .unwrap();
    assert_eq!(stage.run(paid.operation_id).await, Ok(Outcome::Done));
    assert_eq!(stage.operation(paid.operation_id).await.status, "cancelled");
    assert_eq!(
        stage
            .count("select count(*) from fulfillment_operations where operation = 'reconcile'")
            .await,
        1
    );
}

#[tokio::test]
async fn a_run_that_succeeds_after_all_is_a_success() {
    let stage = Stage::new().await;
    let paid = stage.purchase().await;
    let claimed = claim(&stage, paid.operation_id).await;
    stage
        .service()
        .cancel_operation(&operator(), paid.operation_id.into())
        .await
        .unwrap();
    let mut sender = worker::push::Sender::new(Instant::now(), tokio_util::sync::CancellationToken::new());
    let now = "2026-03-01T12:00:00Z".parse().unwrap();
    let shown = worker::push::push(&mut sender, &stage.panel, &claimed, now)
        .await
        .unwrap();
    stage
        .fulfillment
        .record_shown(&claimed, shown, Instant::now() + Duration::from_secs(5))
        .await
        .unwrap();
    assert_eq!(stage.operation(paid.operation_id).await.status, "succeeded");
}

#[tokio::test]
async fn b63_a_retry_opens_a_new_budget_and_runs_although_old_jobs_are_kept() {
    let stage = Stage::new().await;
    let paid = stage.purchase().await;
    sqlx::query("update fulfillment_operations set attempt_count = 11")
        .execute(&stage.pool)
        .await
        .unwrap();
    stage
        .panel
        .then(Script::Fail(error(FailureKind::Transient, "remnawave_http_500")));
    assert_eq!(stage.run(paid.operation_id).await, Ok(Outcome::Done));
    assert_eq!(stage.operation(paid.operation_id).await.status, "failed");
    stage
        .service()
        .retry_operation(&operator(), paid.operation_id.into())
        .await
        .unwrap();
    let reopened = stage.operation(paid.operation_id).await;
    assert_eq!((reopened.status.as_str(), reopened.attempt_count), ("pending", 0));
    assert_eq!(stage.run(paid.operation_id).await, Ok(Outcome::Done));
    assert_eq!(stage.operation(paid.operation_id).await.status, "succeeded");
    assert_eq!(
        stage
            .count("select count(*) from dead_letters where resolved_at is null")
            .await,
        0
    );
    assert_eq!(stage.count("select count(*) from river_job").await, 2);
}

#[tokio::test]
async fn a_panic_of_the_panel_client_is_a_failure_like_another() {
    let stage = Stage::new().await;
    let paid = stage.purchase().await;
    stage.panel.then(Script::Panic);
    assert!(stage.run(paid.operation_id).await.is_err());
    let row = stage.operation(paid.operation_id).await;
    assert_eq!(
        (row.status.as_str(), row.last_error_code.as_deref()),
        ("retrying", Some("worker_panicked"))
    );
    stage.due(paid.operation_id).await;
    assert_eq!(stage.run(paid.operation_id).await, Ok(Outcome::Done));
}
