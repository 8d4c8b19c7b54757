//! Work that ended without success, and what becomes of it afterwards.

use domain::order;
use ports::panel::FailureKind;
use queue::Outcome;

use crate::support::{Paid, Script, Stage, error};

/// The read model's word, which only names candidates.
async fn shown(stage: &Stage, version: i64) {
    sqlx::query(
        "insert into read.entitlements (entitlement_id, subscription_id, customer_id, plan_code, starts_at, ends_at, grace_seconds, squad_ids,
             desired_version, applied_version, open_operations, created_at, last_position)
         select distinct entitlement_id, subscription_id, subscription_id, 'month', now(), now(), 0, '{}'::uuid[], $1, $1, 0, now(), 1
         from fulfillment_operations
         on conflict (entitlement_id) do update set applied_version = excluded.applied_version",
    )
    .bind(version)
    .execute(&stage.pool)
    .await
    .unwrap();
}

async fn given_up(stage: &Stage) -> Paid {
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
    paid
}

#[tokio::test]
async fn a_failed_operation_that_a_later_push_made_good_needs_nobody() {
    let stage = Stage::new().await;
    let first = given_up(&stage).await;
    let open = "select count(*) from dead_letters where resolved_at is null";
    assert_eq!(stage.count(open).await, 1);
    // The read model is ahead of nothing: the stream has not been shown the version.
    shown(&stage, 9).await;
    let report = stage.fulfillment.close_superseded_failures().await.unwrap();
    assert_eq!((report.found, report.closed, report.failed), (1, 0, 0));
    assert_eq!(stage.operation(first.operation_id).await.status, "failed");

    let second = stage.extend(first).await;
    assert_eq!(stage.run(second.operation_id).await, Ok(Outcome::Done));
    let report = stage.fulfillment.close_superseded_failures().await.unwrap();
    assert_eq!((report.found, report.closed, report.failed), (1, 1, 0));
    let row = stage.operation(first.operation_id).await;
    assert_eq!(
        (row.status.as_str(), row.last_error_code.as_deref()),
        ("succeeded", Some("entitlement_superseded"))
    );
    assert_eq!(stage.order_state(first.order_id).await, order::State::Fulfilled);
    assert_eq!(stage.count(open).await, 0);
    let last = "select count(*) from (select kind, status from fulfillment_history where operation_id in (
                  select operation_id from fulfillment_operations where operation = 'create') order by entry desc limit 1) h
                where kind = 'close' and status = 'succeeded'";
    assert_eq!(stage.count(last).await, 1);

    // Once, and it is no more to be retried.
    let report = stage.fulfillment.close_superseded_failures().await.unwrap();
    assert_eq!((report.found, report.closed), (0, 0));
    let operator = service::Caller::new("operator:test", "request-1");
    let refused = stage
        .service()
        .retry_operation(&operator, first.operation_id.into())
        .await
        .unwrap_err();
    assert_eq!(refused.code(), "state_conflict");
}

#[tokio::test]
async fn a_retry_that_comes_between_is_not_undone() {
    let stage = Stage::racing().await;
    let first = given_up(&stage).await;
    let second = stage.extend(first).await;
    assert_eq!(stage.run(second.operation_id).await, Ok(Outcome::Done));
    shown(&stage, 2).await;
    let operator = service::Caller::new("operator:test", "request-1");
    let service = stage.service();
    let (swept, retried) = tokio::join!(
        stage.fulfillment.close_superseded_failures(),
        service.retry_operation(&operator, first.operation_id.into())
    );
    let (swept, row) = (swept.unwrap(), stage.operation(first.operation_id).await);
    assert_eq!(swept.failed, 0);
    let expected = if retried.is_ok() { "pending" } else { "succeeded" };
    assert_eq!(row.status, expected);
    assert_eq!(swept.closed, u64::from(retried.is_err()));
    if retried.is_ok() {
        // Its run finds that there is nothing to do.
        assert_eq!(stage.run(first.operation_id).await, Ok(Outcome::Done));
        assert_eq!(stage.operation(first.operation_id).await.status, "succeeded");
    }
}
