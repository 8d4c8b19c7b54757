//! Budgets, schedules, lost jobs and late writes.

use std::time::Duration;

use domain::fulfillment::retry_delay;
use ports::panel::FailureKind;
use queue::{Failure, FulfillmentArgs, Outcome, QueueError};

use crate::support::{Script, Stage, error};

#[tokio::test]
async fn b45_twelve_failures_end_an_operation() {
    let stage = Stage::new().await;
    let paid = stage.purchase().await;
    stage
        .panel
        .always(Some(error(FailureKind::Transient, "remnawave_http_500")));
    for failure in 1..12 {
        let expected = Failure::Retry {
            after: retry_delay(failure),
            code: "remnawave_http_500".to_owned(),
        };
        assert_eq!(stage.run(paid.operation_id).await, Err(expected), "failure {failure}");
        let notices = stage.count("select count(*) from operator_notices").await;
        assert_eq!(notices, i64::from(failure >= 3), "one notice, at the third failure");
        assert!(
            matches!(stage.run(paid.operation_id).await, Ok(Outcome::Snooze(_))),
            "not before it is due"
        );
        let due = stage.operation(paid.operation_id).await.wait().unwrap();
        assert!(
            retry_delay(failure).abs_diff(due) < Duration::from_secs(2),
            "one schedule for both"
        );
        stage.due(paid.operation_id).await;
    }
    assert_eq!(stage.run(paid.operation_id).await, Ok(Outcome::Done));
    let failed = stage.operation(paid.operation_id).await;
    assert_eq!((failed.status.as_str(), failed.attempt_count), ("failed", 12));
    assert_eq!(stage.job_state(paid.operation_id).await, "discarded");
    let (code, correlation): (String, String) = sqlx::query_as("select code, correlation_id from dead_letters")
        .fetch_one(&stage.pool)
        .await
        .unwrap();
    assert_eq!(code, "remnawave_http_500");
    assert_eq!(correlation, format!("test-{}", paid.order_id));
    assert_eq!(stage.panel.writes().len(), 12);
    sqlx::query("update fulfillment_operations set next_attempt_at = now() - interval '1 day'")
        .execute(&stage.pool)
        .await
        .unwrap();
    assert_eq!(stage.fulfillment.revive().await.unwrap().found, 0, "no thirteenth call");
    assert_eq!(stage.count("select count(*) from operator_notices").await, 1);
}

#[tokio::test]
async fn b67_two_days_of_waiting_cost_no_attempt() {
    let stage = Stage::new().await;
    let paid = stage.purchase().await;
    sqlx::query("update fulfillment_operations set next_attempt_at = now() + interval '2 days'")
        .execute(&stage.pool)
        .await
        .unwrap();
    for _ in 0..2880 {
        assert!(matches!(stage.run(paid.operation_id).await, Ok(Outcome::Snooze(_))));
    }
    stage.due(paid.operation_id).await;
    stage
        .panel
        .then(Script::Fail(error(FailureKind::Transient, "remnawave_unavailable")));
    let expected = Failure::Retry {
        after: Duration::from_secs(10),
        code: "remnawave_unavailable".to_owned(),
    };
    assert_eq!(
        stage.run(paid.operation_id).await,
        Err(expected),
        "the next real failure waits 10 s"
    );
    stage.due(paid.operation_id).await;
    assert_eq!(stage.run(paid.operation_id).await, Ok(Outcome::Done));
    assert_eq!(stage.operation(paid.operation_id).await.attempt_count, 2);
    assert_eq!(stage.count("select max_attempts::bigint from river_job").await, 12);
    assert!(
        stage
            .count("select pg_column_size(river_job.*)::bigint from river_job")
            .await
            < 8192
    );
    assert_eq!(
        stage.count("select count(*) from fulfillment_history").await,
        3,
        "one row for the whole wait"
    );
}

#[tokio::test]
async fn b51_a_lost_job_is_revived_once() {
    let stage = Stage::new().await;
    let paid = stage.purchase().await;
    sqlx::query("delete from river_job").execute(&stage.pool).await.unwrap();
    assert_eq!(
        stage.fulfillment.revive().await.unwrap().found,
        0,
        "not before a minute has passed"
    );
    sqlx::query("update fulfillment_operations set next_attempt_at = now() - interval '2 minutes'")
        .execute(&stage.pool)
        .await
        .unwrap();
    let report = stage.fulfillment.revive().await.unwrap();
    assert_eq!((report.found, report.revived, report.live), (1, 1, 0));
    let report = stage.fulfillment.revive().await.unwrap();
    assert_eq!((report.found, report.revived, report.live), (1, 0, 1));
    assert_eq!(stage.count("select count(*) from river_job").await, 1);
    assert_eq!(stage.run(paid.operation_id).await, Ok(Outcome::Done));
}

#[tokio::test]
async fn b51_a_job_on_its_way_through_the_outbox_is_not_doubled() {
    let stage = Stage::new().await;
    let paid = stage.purchase().await;
    sqlx::query("delete from river_job").execute(&stage.pool).await.unwrap();
    sqlx::query("update outbox set published_at = null")
        .execute(&stage.pool)
        .await
        .unwrap();
    sqlx::query(
        "update fulfillment_operations set next_attempt_at = now() - interval '2 minutes' where operation_id = $1",
    )
    .bind(paid.operation_id)
    .execute(&stage.pool)
    .await
    .unwrap();
    assert_eq!(stage.fulfillment.revive().await.unwrap().found, 0);
}

#[tokio::test]
async fn b63_an_ended_job_is_no_duplicate_and_a_live_one_is_an_error() {
    let stage = Stage::new().await;
    let paid = stage.purchase().await;
    let args = FulfillmentArgs {
        operation_id: paid.operation_id,
    };
    let none = serde_json::Map::new();
    let again = stage.queue.insert(&args, &none).await.unwrap();
    assert!(again.skipped_as_duplicate);
    assert!(matches!(again.expect_new(), Err(QueueError::StillLive)));
    stage.run(paid.operation_id).await.unwrap();
    for state in ["completed", "discarded", "cancelled"] {
        sqlx::query("update river_job set state = $1::text::river_job_state, finalized_at = now()")
            .bind(state)
            .execute(&stage.pool)
            .await
            .unwrap();
        let fresh = stage.queue.insert(&args, &none).await.unwrap();
        assert!(fresh.expect_new().is_ok(), "{state}");
    }
}

#[tokio::test]
async fn a_run_after_a_crash_pushes_once_more_and_looks_again_later() {
    let stage = Stage::new().await;
    let first = stage.purchase().await;
    stage.run(first.operation_id).await.unwrap();
    let more = stage.extend(first).await;
    // Its worker dies after the claim.
    let run = stage.fetch(more.operation_id).await;
    let job = service::fulfillment::JobRef {
        job_id: run.job_id,
        attempt: run.attempt,
    };
    let claim = stage.fulfillment.claim(job, more.operation_id).await.unwrap();
    assert!(matches!(claim, service::fulfillment::Claim::Run(_)));
    sqlx::query("update river_job set state = 'available' where state = 'running'")
        .execute(&stage.pool)
        .await
        .unwrap();
    assert!(matches!(stage.run(more.operation_id).await, Ok(Outcome::Snooze(span)) if span <= Duration::from_secs(2)));
    sqlx::query("update subscription_leases set expires_at = now() - interval '1 s'")
        .execute(&stage.pool)
        .await
        .unwrap();
    assert_eq!(stage.run(more.operation_id).await, Ok(Outcome::Done));
    assert_eq!(
        stage
            .count("select count(*) from fulfillment_operations where operation = 'reconcile'")
            .await,
        1
    );
}

#[tokio::test]
async fn a_writer_that_comes_back_late_records_nothing_and_has_the_panel_converged() {
    let stage = Stage::new().await;
    let first = stage.purchase().await;
    stage.run(first.operation_id).await.unwrap();
    let older = stage.extend(first).await;
    let run = stage.fetch(older.operation_id).await;
    let job = service::fulfillment::JobRef {
        job_id: run.job_id,
        attempt: run.attempt,
    };
    let service::fulfillment::Claim::Run(stalled) = stage.fulfillment.claim(job, older.operation_id).await.unwrap()
    else {
        panic!("not claimed")
    };
    // It hangs; its lease ends, and a newer operation takes over.
    sqlx::query("update subscription_leases set expires_at = now() - interval '1 s'")
        .execute(&stage.pool)
        .await
        .unwrap();
    let newer = stage.extend(first).await;
    assert_eq!(stage.run(newer.operation_id).await, Ok(Outcome::Done));
    let users = stage.panel.users();
    let until = tokio::time::Instant::now() + Duration::from_secs(5);
    let shown = service::fulfillment::Shown {
        remote_user_id: users[0].id,
        remote_status: users[0].status,
    };
    let recorded = stage.fulfillment.record_shown(&stalled, shown, until).await.unwrap();
    assert_eq!(recorded, service::fulfillment::Recorded::FencedOut);
    assert_eq!(
        stage.entitlement(first.entitlement_id).await.applied_version,
        3,
        "not moved back"
    );
    assert_eq!(
        stage
            .count("select count(*) from fulfillment_operations where operation = 'reconcile'")
            .await,
        1,
        "one open at a time"
    );
    // The older one pushes once more although a newer version is shown: its request may have landed after that one.
    sqlx::query("update river_job set state = 'available' where state = 'running'")
        .execute(&stage.pool)
        .await
        .unwrap();
    let writes = stage.panel.writes().len();
    assert_eq!(stage.run(older.operation_id).await, Ok(Outcome::Done));
    assert!(stage.panel.writes().len() > writes);
    assert_eq!(stage.panel.users()[0].expire_at, users[0].expire_at, "the newer state");
}

#[tokio::test]
async fn a_lease_that_nobody_will_take_over_leads_to_one_look_at_the_panel() {
    let stage = Stage::new().await;
    let paid = stage.purchase().await;
    stage.run(paid.operation_id).await.unwrap();
    let more = stage.extend(paid).await;
    let run = stage.fetch(more.operation_id).await;
    let job = service::fulfillment::JobRef {
        job_id: run.job_id,
        attempt: run.attempt,
    };
    stage.fulfillment.claim(job, more.operation_id).await.unwrap();
    // Its worker is gone, and meanwhile somebody closed the operation by hand.
    sqlx::query("update fulfillment_operations set status = 'cancelled', completed_at = now() where operation_id = $1")
        .bind(more.operation_id)
        .execute(&stage.pool)
        .await
        .unwrap();
    assert_eq!(
        stage.fulfillment.sweep_leases().await.unwrap().found,
        0,
        "the lease still runs"
    );
    sqlx::query("update subscription_leases set expires_at = now() - interval '2 minutes'")
        .execute(&stage.pool)
        .await
        .unwrap();
    let report = stage.fulfillment.sweep_leases().await.unwrap();
    assert_eq!((report.found, report.reconciled, report.failed), (1, 1, 0));
    assert_eq!(stage.fulfillment.sweep_leases().await.unwrap().found, 0);
    let open = "select count(*) from fulfillment_operations where operation = 'reconcile' and status = 'pending'";
    assert_eq!(stage.count(open).await, 1);
}
