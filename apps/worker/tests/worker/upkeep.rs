//! The pass that has every living entitlement compared: whom it takes, how often, and what stands in its way.

use chrono::TimeDelta;
use ports::clock::Clock as _;
use queue::Outcome;
use uuid::Uuid;

use crate::{
    drift::{bought, pass},
    support::Stage,
};

#[tokio::test]
async fn b50_users_deleted_without_a_word_are_missed_and_made_anew() {
    let stage = Stage::new().await;
    for _ in 0..20 {
        let paid = stage.purchase().await;
        stage.run(paid.operation_id).await.unwrap();
    }
    for user in stage.panel.users() {
        stage.panel.remove(user.id);
    }
    stage.next_bucket();
    let mut opened = 0;
    for _ in 0..3 {
        opened += stage.reconcile().await.opened;
    }
    assert_eq!(opened, 20, "one a bucket, however often the pass runs");
    let operations: Vec<Uuid> =
        sqlx::query_scalar("select operation_id from fulfillment_operations where operation = 'reconcile'")
            .fetch_all(&stage.pool)
            .await
            .unwrap();
    for operation_id in operations {
        assert_eq!(stage.run(operation_id).await, Ok(Outcome::Done));
    }
    assert_eq!(stage.panel.users().len(), 20);
    let drifts = stage.drifts().await;
    assert_eq!(drifts.len(), 20);
    assert!(
        drifts
            .iter()
            .all(|drift| drift.kind == "missing_remote" && drift.status == "resolved")
    );
}

#[tokio::test]
async fn a_pass_opens_one_comparison_a_bucket_and_the_next_bucket_a_second() {
    let stage = Stage::new().await;
    bought(&stage).await;
    stage.next_bucket();
    assert_eq!(stage.reconcile().await.opened, 1);
    assert_eq!(stage.reconcile().await.opened, 0, "one is open");
    let first = stage.newest_reconcile().await;
    let keys =
        "select count(*) from fulfillment_operations where idempotency_key like 'reconcile:%:2026-03-01T12:15:00Z'
                and correlation_id = 'scheduler:2026-03-01T12:15:00Z'";
    assert_eq!(stage.count(keys).await, 1);
    assert_eq!(stage.run(first).await, Ok(Outcome::Done));
    stage.clock.advance(TimeDelta::minutes(14));
    // Even when nobody remembers the first one.
    sqlx::query("delete from entitlement_checks")
        .execute(&stage.pool)
        .await
        .unwrap();
    let again = stage.reconcile().await;
    assert_eq!((again.found, again.opened, again.skipped), (1, 0, 1));
    assert_eq!(stage.reconcile().await.found, 0, "and it is not tried all the time");
    stage.clock.advance(TimeDelta::minutes(1));
    assert_eq!(stage.reconcile().await.opened, 1);
}

#[tokio::test]
async fn the_pass_leaves_alone_who_has_work_under_way_and_who_ended_long_ago() {
    let stage = Stage::new().await;
    let paid = bought(&stage).await;
    stage.next_bucket();
    let more = stage.extend(paid).await;
    assert_eq!(stage.reconcile().await.found, 0, "the extension pushes anyway");
    stage.run(more.operation_id).await.unwrap();
    stage.next_bucket();
    assert_eq!(stage.reconcile().await.opened, 1);
    stage.run(stage.newest_reconcile().await).await.unwrap();
    stage.clock.advance(TimeDelta::days(61));
    assert_eq!(
        stage.reconcile().await.found,
        0,
        "by the read model, whose end is the first one"
    );
    let never_shown = stage.purchase().await;
    sqlx::query("update fulfillment_operations set status = 'cancelled', completed_at = now() where operation_id = $1")
        .bind(never_shown.operation_id)
        .execute(&stage.pool)
        .await
        .unwrap();
    let report = stage.reconcile().await;
    assert_eq!(
        (report.found, report.opened, report.skipped),
        (1, 0, 1),
        "nothing was ever shown"
    );
}

#[tokio::test]
async fn one_unreadable_entitlement_does_not_stop_the_others() {
    let stage = Stage::new().await;
    let broken = bought(&stage).await;
    bought(&stage).await;
    stage.next_bucket();
    stage.reconcile().await;
    sqlx::query("delete from fulfillment_operations where operation = 'reconcile'")
        .execute(&stage.pool)
        .await
        .unwrap();
    sqlx::query("delete from river_job").execute(&stage.pool).await.unwrap();
    let owner = sqlx::PgPool::connect(&stage.db.owner_url).await.unwrap();
    sqlx::raw_sql("alter table events disable trigger user")
        .execute(&owner)
        .await
        .unwrap();
    sqlx::query("update events set payload = '{}' where aggregate_id = $1 and sequence = 1")
        .bind(broken.entitlement_id.to_string())
        .execute(&owner)
        .await
        .unwrap();
    stage.next_bucket();
    let report = stage.reconcile().await;
    assert_eq!((report.found, report.opened, report.failed), (2, 1, 1));
    assert_eq!(
        stage.reconcile().await.found,
        0,
        "the broken one goes to the end of the line"
    );
}

#[tokio::test]
async fn an_operator_may_retry_or_cancel_what_the_pass_opened() {
    let stage = Stage::new().await;
    bought(&stage).await;
    let user = stage.panel.users().remove(0);
    stage.panel.give_away(user.id, "a_stranger");
    pass(&stage).await.unwrap();
    let operation_id = stage.newest_reconcile().await;
    stage.panel.give_away(user.id, &user.username);
    let service = stage.service();
    let caller = service::Caller::new("operator:test", "test-retry");
    service.retry_operation(&caller, operation_id.into()).await.unwrap();
    assert_eq!(stage.run(operation_id).await, Ok(Outcome::Done));
    assert_eq!(stage.operation(operation_id).await.status, "succeeded");
    assert_eq!(
        stage
            .count("select count(*) from dead_letters where resolved_at is null")
            .await,
        0
    );
    stage.next_bucket();
    assert_eq!(
        stage.reconcile().await.opened,
        1,
        "what agreed is compared again as everybody"
    );
    let waiting = stage.newest_reconcile().await;
    service.cancel_operation(&caller, waiting.into()).await.unwrap();
    assert_eq!(stage.operation(waiting).await.status, "cancelled");
    assert_eq!(stage.events("entitlement.operation_cancelled").await, 1);
}

/// B52: rights that ended long ago are no work for the pass, however many there are.
#[tokio::test]
async fn b52_ten_thousand_rights_that_ended_long_ago_are_no_work() {
    let stage = Stage::new().await;
    let paid = bought(&stage).await;
    stage.next_bucket();
    sqlx::query(
        "insert into read.entitlements
         select gen_random_uuid(), gen_random_uuid(), customer_id, plan_code, starts_at - interval '2 years', $2 - interval '31 days',
                grace_seconds, traffic_allowance_bytes, device_limit, squad_ids, 1, 1, 1000 + number, remote_status, 0,
                created_at, last_position
           from read.entitlements, generate_series(1, 10000) number where entitlement_id = $1",
    )
    .bind(paid.entitlement_id)
    .bind(stage.clock.now())
    .execute(&stage.pool)
    .await
    .unwrap();
    let report = stage.reconcile().await;
    assert_eq!((report.found, report.opened), (1, 1), "{report:?}");
}

/// B40: what is read, compared and written again keeps its moment, wherever the server and the reader think they are.
#[tokio::test]
async fn b40_twenty_comparisons_in_another_time_zone_move_nothing() {
    for zone in ["Europe/Moscow", "America/New_York"] {
        let stage = Stage::in_zone(zone).await;
        let shown: String = sqlx::query_scalar("show timezone")
            .fetch_one(&stage.pool)
            .await
            .unwrap();
        assert_eq!(shown, "UTC", "a session of ours does not take the zone of its server");
        bought(&stage).await;
        let end = stage.panel.users()[0].expire_at;
        for _ in 0..20 {
            stage.next_bucket();
            assert_eq!(stage.reconcile().await.opened, 1);
            stage.run(stage.newest_reconcile().await).await.unwrap();
            assert_eq!(stage.panel.users()[0].expire_at, end, "{zone}");
        }
        assert_eq!(
            stage.count("select count(*) from entitlement_drifts").await,
            0,
            "{zone}"
        );
    }
}
