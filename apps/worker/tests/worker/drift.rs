//! Hand-made changes at the panel are seen, told, and put right.

use std::{sync::Arc, time::Duration};

use chrono::TimeDelta;
use domain::{
    entitlement::{DriftKind, RemoteStatus},
    ids::OperationId,
    time::Timestamp,
};
use ports::{
    clock::Clock,
    panel::{FailureKind, PanelReader as _, PanelWriter as _, Push, RemoteUser},
};
use queue::{Failure, Outcome};
use remnawave::Remnawave;
use sandbox::{RunningSandbox, SandboxOptions};
use worker::{PanelPause, jobs::FulfillmentJobs};

use crate::support::{Paid, Script, Stage, error};

/// A stage whose panel is the simulator, over HTTP.
async fn simulated() -> (Stage, Remnawave, RunningSandbox, tempfile::TempDir) {
    let mut stage = Stage::new().await;
    let dir = tempfile::tempdir().unwrap();
    let options = SandboxOptions {
        clock: Arc::new(stage.clock.clone()),
        ..SandboxOptions::new(dir.path())
    };
    let simulators = sandbox::start(options).await.unwrap();
    let address = &simulators.addresses().panel;
    let config = remnawave::Config::new(address.url.as_str(), address.token.as_str());
    let panel = Remnawave::new(&config).unwrap();
    stage.jobs = FulfillmentJobs::new(
        stage.fulfillment.clone(),
        Arc::new(Remnawave::new(&config).unwrap()),
        PanelPause::default(),
        Arc::new(stage.clock.clone()),
    );
    (stage, panel, simulators, dir)
}

pub(crate) async fn bought(stage: &Stage) -> Paid {
    let paid = stage.purchase().await;
    stage.run(paid.operation_id).await.unwrap();
    paid
}

/// One pass and the run of what it opened.
pub(crate) async fn pass(stage: &Stage) -> Result<Outcome, Failure> {
    stage.next_bucket();
    let report = stage.reconcile().await;
    assert_eq!((report.found, report.opened, report.failed), (1, 1, 0));
    stage.run(stage.newest_reconcile().await).await
}

fn push_of(user: &RemoteUser, change: impl FnOnce(&mut Push)) -> Push {
    let mut push = Push {
        expire_at: user.expire_at,
        limits: domain::plan::Limits {
            traffic_bytes: Some(user.traffic_limit_bytes),
            devices: user.device_limit.and_then(|devices| i32::try_from(devices).ok()),
            squads: user.squads.clone(),
        },
        activate: false,
        shut: false,
    };
    change(&mut push);
    push
}

#[tokio::test]
async fn every_kind_of_hand_made_change_is_told_and_put_right_at_the_simulated_panel() {
    let (stage, panel, simulators, _dir) = simulated().await;
    let paid = bought(&stage).await;
    let id = stage.entitlement(paid.entitlement_id).await.remote_user_id.unwrap();
    let as_sold = panel.user(id).await.unwrap().unwrap();
    for kind in DriftKind::ALL {
        let push = |change: fn(&mut Push)| push_of(&as_sold, change);
        match kind {
            DriftKind::MissingRemote => continue,
            DriftKind::Expiry => drop(
                panel
                    .update_user(id, &push(|push| push.expire_at += TimeDelta::days(300)))
                    .await,
            ),
            DriftKind::Traffic => drop(
                panel
                    .update_user(id, &push(|push| push.limits.traffic_bytes = None))
                    .await,
            ),
            DriftKind::DeviceLimit => drop(
                panel
                    .update_user(id, &push(|push| push.limits.devices = Some(50)))
                    .await,
            ),
            DriftKind::Squads => drop(panel.update_user(id, &push(|push| push.limits.squads.clear())).await),
            DriftKind::Status => panel.disable_user(id).await.unwrap(),
        }
        assert_ne!(panel.user(id).await.unwrap().unwrap(), as_sold, "{kind:?}");
        assert_eq!(pass(&stage).await, Ok(Outcome::Done), "{kind:?}");
        assert_eq!(panel.user(id).await.unwrap().unwrap(), as_sold, "{kind:?}");
        let drift = stage.drifts().await.remove(0);
        assert_eq!(
            (drift.kind.as_str(), drift.status.as_str()),
            (kind.as_str(), "resolved")
        );
    }
    assert_eq!(stage.drifts().await.len(), 5, "one change is one drift");
    assert_eq!(stage.events("entitlement.drift_detected").await, 5);
    assert_eq!(stage.events("entitlement.drift_corrected").await, 5);
    let before = stage.count("select count(*) from events").await;
    assert_eq!(pass(&stage).await, Ok(Outcome::Done));
    assert_eq!(
        stage.count("select count(*) from events").await,
        before,
        "nothing to tell"
    );
    simulators.stop().await;
}

#[tokio::test]
async fn what_was_seen_is_told_even_if_the_push_never_comes() {
    let stage = Stage::new().await;
    let paid = bought(&stage).await;
    let user = stage.panel.users().remove(0);
    stage.panel.edit(user.id, |user| user.traffic_limit_bytes = 1);
    stage
        .panel
        .always(Some(error(FailureKind::Transient, "remnawave_http_500")));
    assert!(matches!(pass(&stage).await, Err(Failure::Retry { .. })));
    let open = stage.drifts().await;
    assert_eq!(open.len(), 1);
    assert_eq!((open[0].kind.as_str(), open[0].status.as_str()), ("traffic", "open"));
    assert_eq!(open[0].expected, serde_json::json!({ "value": 100_i64 << 30 }));
    assert_eq!(open[0].observed, serde_json::json!({ "value": 1 }));
    // Seen again with another value, it is the same drift.
    stage.panel.edit(user.id, |user| user.traffic_limit_bytes = 2);
    let operation_id = stage.newest_reconcile().await;
    stage.due(operation_id).await;
    assert!(matches!(stage.run(operation_id).await, Err(Failure::Retry { .. })));
    let refreshed = stage.drifts().await;
    assert_eq!(
        (refreshed.len(), &refreshed[0].observed),
        (1, &serde_json::json!({ "value": 2 }))
    );
    // Whatever is applied next puts it right.
    stage.panel.always(None);
    let more = stage.extend(paid).await;
    assert_eq!(stage.run(more.operation_id).await, Ok(Outcome::Done));
    assert_eq!(stage.drifts().await[0].status, "resolved");
    assert!(stage.entitlement(paid.entitlement_id).await.open_drifts.is_empty());
    stage.due(operation_id).await;
    assert_eq!(stage.run(operation_id).await, Ok(Outcome::Done));
    assert_eq!(stage.drifts().await.len(), 1);
}

#[tokio::test]
async fn a_look_that_fails_pushes_nothing() {
    let stage = Stage::new().await;
    let paid = bought(&stage).await;
    let user = stage.panel.users().remove(0);
    stage.panel.give_away(user.id, "a_stranger");
    let writes = stage.panel.writes().len();
    assert_eq!(pass(&stage).await, Ok(Outcome::Done));
    assert_eq!(stage.panel.writes().len(), writes);
    let operation_id = stage.newest_reconcile().await;
    let failed = stage.operation(operation_id).await;
    assert_eq!(
        (failed.status.as_str(), failed.last_error_code.as_deref()),
        ("failed", Some("remote_username_foreign"))
    );
    assert_eq!(stage.count("select count(*) from dead_letters").await, 1);
    // It entered the log with its end, and nobody makes the same discovery again every quarter of an hour.
    let known = stage.entitlement(paid.entitlement_id).await;
    assert!(known.operations.contains_key(&OperationId::new(operation_id)));
    let unannounced =
        "select count(*) from outbox where topic = 'entitlement.operation_opened' and published_at is null";
    assert_eq!(stage.count(unannounced).await, 0);
    stage.next_bucket();
    assert_eq!(stage.reconcile().await.found, 0);
    stage.clock.advance(TimeDelta::hours(6));
    assert_eq!(stage.reconcile().await.opened, 1);
}

#[tokio::test]
async fn a_worker_that_dies_between_the_record_and_the_push_leaves_both_to_the_next() {
    let stage = Stage::new().await;
    let paid = bought(&stage).await;
    let user = stage.panel.users().remove(0);
    stage.panel.edit(user.id, |user| user.status = RemoteStatus::Disabled);
    stage.next_bucket();
    stage.reconcile().await;
    let operation_id = stage.newest_reconcile().await;
    let run = stage.fetch(operation_id).await;
    let job = service::fulfillment::JobRef {
        job_id: run.job_id,
        attempt: run.attempt,
    };
    let service::fulfillment::Claim::Run(claimed) = stage.fulfillment.claim(job, operation_id).await.unwrap() else {
        panic!("not claimed")
    };
    let look = service::fulfillment::Look {
        user: stage.panel.users().into_iter().next(),
        taken_at: stage.clock.now(),
    };
    let until = tokio::time::Instant::now() + Duration::from_secs(5);
    let looked = stage.fulfillment.record_look(&claimed, &look, until).await.unwrap();
    assert_eq!(looked, service::fulfillment::Looked::Push { reopen: true });
    // It dies here. Its lease ends and another run takes over.
    for sql in [
        "update river_job set state = 'available' where state = 'running'",
        "update subscription_leases set expires_at = now() - interval '1 s'",
    ] {
        sqlx::query(sql).execute(&stage.pool).await.unwrap();
    }
    assert_eq!(stage.run(operation_id).await, Ok(Outcome::Done));
    assert_eq!(stage.panel.users()[0].status, RemoteStatus::Active);
    let drifts = stage.drifts().await;
    assert_eq!((drifts.len(), drifts[0].status.as_str()), (1, "resolved"), "seen once");
    assert_eq!(stage.events("entitlement.drift_detected").await, 1);
    // What comes back late records nothing.
    let again = stage.fulfillment.record_look(&claimed, &look, until).await.unwrap();
    assert_eq!(again, service::fulfillment::Looked::FencedOut);
    assert!(stage.entitlement(paid.entitlement_id).await.open_drifts.is_empty());
}

#[tokio::test]
async fn b38_a_user_whose_right_is_over_is_shut_and_never_made_anew() {
    let stage = Stage::new().await;
    let paid = bought(&stage).await;
    stage.clock.advance(TimeDelta::days(31));
    // Somebody gave it more time by hand.
    let user = stage.panel.users().remove(0);
    let later: Timestamp = stage.clock.now() + TimeDelta::days(90);
    stage.panel.edit(user.id, |user| user.expire_at = later);
    assert_eq!(pass(&stage).await, Ok(Outcome::Done));
    assert_eq!(stage.panel.users()[0].status, RemoteStatus::Disabled);
    let kinds: Vec<String> = stage.drifts().await.into_iter().map(|drift| drift.kind).collect();
    assert_eq!(kinds, ["status", "expiry"]);
    stage.panel.remove(user.id);
    assert_eq!(pass(&stage).await, Ok(Outcome::Done));
    assert!(stage.panel.users().is_empty(), "nobody makes it anew");
    assert!(stage.entitlement(paid.entitlement_id).await.open_drifts.is_empty());
}

#[tokio::test]
async fn a_user_that_used_up_its_traffic_is_not_given_more_by_a_comparison() {
    let stage = Stage::new().await;
    bought(&stage).await;
    let user = stage.panel.users().remove(0);
    stage.panel.edit(user.id, |user| {
        user.status = RemoteStatus::Limited;
        user.device_limit = Some(9);
    });
    assert_eq!(pass(&stage).await, Ok(Outcome::Done));
    let users = stage.panel.users();
    assert_eq!(
        (users[0].status, users[0].device_limit),
        (RemoteStatus::Limited, Some(3))
    );
}

#[tokio::test]
async fn a_lost_answer_of_the_repair_is_repaired_once_more() {
    let stage = Stage::new().await;
    bought(&stage).await;
    let user = stage.panel.users().remove(0);
    stage.panel.edit(user.id, |user| user.squads.clear());
    stage.panel.then(Script::DoneUnanswered);
    assert!(matches!(pass(&stage).await, Err(Failure::Retry { .. })));
    let operation_id = stage.newest_reconcile().await;
    stage.due(operation_id).await;
    let writes = stage.panel.writes().len();
    assert_eq!(stage.run(operation_id).await, Ok(Outcome::Done));
    assert_eq!(
        stage.panel.writes().len(),
        writes + 1,
        "a request without an answer is followed by one with"
    );
    assert_eq!(stage.drifts().await[0].status, "resolved");
    assert_eq!(
        stage
            .count("select count(*) from fulfillment_operations where operation = 'reconcile' and status = 'pending'")
            .await,
        1,
        "and by one look later"
    );
}
