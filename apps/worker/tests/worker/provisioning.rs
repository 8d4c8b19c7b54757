//! Failures that others had in public, and crashes between the panel and the record.

use chrono::TimeDelta;
use domain::entitlement::{Access, Asked, RemoteStatus};
use ports::clock::Clock as _;
use queue::Outcome;
use service::fulfillment::{Claim, Claimed, JobRef};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;
use worker::push::{Sender, push};

use crate::{
    changes::{done, limits, live},
    support::{Script, Stage},
};

#[tokio::test]
async fn b37_a_renewed_customer_is_no_longer_limited() {
    let (stage, paid) = live().await;
    stage.panel.use_up(stage.panel.users()[0].id);
    let before = stage.panel.writes().len();
    let more = stage.extend(paid).await;
    done(&stage, more.operation_id).await;
    let user = stage.panel.users().remove(0);
    assert_eq!((user.status, user.used_traffic_bytes), (RemoteStatus::Active, 0));
    let words: Vec<String> = stage.panel.writes().split_off(before);
    let words: Vec<&str> = words.iter().filter_map(|write| write.split(' ').next()).collect();
    assert_eq!(
        words,
        ["update", "reset"],
        "one request for a change, and none that touches devices or links"
    );
}

#[tokio::test]
async fn b39_a_squad_that_is_gone_fails_at_once_and_the_operation_succeeds_when_others_are_named() {
    let stage = Stage::new().await;
    stage.panel.has_squads(&[Uuid::from_u128(8)]);
    let paid = stage.purchase().await;
    assert_eq!(stage.run(paid.operation_id).await, Ok(Outcome::Done));
    let failed = stage.operation(paid.operation_id).await;
    assert_eq!((failed.status.as_str(), failed.attempt_count), ("failed", 1));
    assert_eq!(failed.last_error_code.as_deref(), Some("remote_squad_unknown"));
    assert_eq!(stage.count("select count(*) from operator_notices").await, 1);
    let named = stage
        .ask(
            paid,
            Asked::Squads {
                squads: vec![Uuid::from_u128(8)],
            },
        )
        .await;
    let operator = service::Caller::new("operator:1", "test").because("the squad was removed");
    stage
        .service()
        .retry_operation(&operator, paid.operation_id.into())
        .await
        .unwrap();
    done(&stage, paid.operation_id).await;
    done(&stage, named).await;
    assert_eq!(stage.panel.users().remove(0).squads, [Uuid::from_u128(8)]);
    assert_eq!(stage.order_state(paid.order_id).await, domain::order::State::Fulfilled);
}

#[tokio::test]
async fn a_passing_fault_of_the_panel_is_not_taken_for_a_squad_that_is_gone() {
    let (stage, paid) = live().await;
    stage.panel.has_squads(&[sandbox::DEFAULT_SQUADS[0].0]);
    let operation = stage.ask(paid, limits(Some(5), None)).await;
    let refused = ports::panel::PanelError {
        panel_code: Some("A039".to_owned()),
        ..crate::support::error(ports::panel::FailureKind::Transient, "remnawave_http_500")
    };
    stage.panel.then(Script::Fail(refused));
    assert!(stage.run(operation).await.is_err());
    assert_eq!(stage.operation(operation).await.status, "retrying");
    stage.due(operation).await;
    done(&stage, operation).await;
}

#[tokio::test]
async fn b41_what_ended_before_it_was_shown_is_shut_and_not_refused_twelve_times() {
    let (stage, paid) = live().await;
    let operation = stage.ask(paid, limits(Some(5), None)).await;
    stage.clock.advance(TimeDelta::days(31));
    done(&stage, operation).await;
    assert_eq!(stage.panel.users()[0].status, RemoteStatus::Disabled);
    assert_eq!(stage.operation(operation).await.attempt_count, 1);
}

async fn claim(stage: &Stage, operation_id: Uuid) -> Box<Claimed> {
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

/// The queue finds the run lost, and its lease has ended.
async fn rescued(stage: &Stage) {
    for sql in [
        "update river_job set state = 'available' where state = 'running'",
        "update subscription_leases set expires_at = now() - interval '1 s' where released_at is null",
    ] {
        sqlx::query(sql).execute(&stage.pool).await.unwrap();
    }
}

#[tokio::test]
async fn a_worker_that_dies_before_between_and_after_the_requests_of_an_operation_changes_nothing_twice() {
    let (stage, paid) = live().await;
    for asked in [
        limits(Some(5 << 30), Some(1)),
        Asked::Squads { squads: Vec::new() },
        Asked::Disable,
        Asked::Enable,
        Asked::ResetTraffic,
        Asked::Pause,
        Asked::Resume,
    ] {
        let resets = stage.panel.resets();
        let operation = stage.ask(paid, asked.clone()).await;
        // Before the first request.
        claim(&stage, operation).await;
        rescued(&stage).await;
        // After the first one that was answered.
        let claimed = claim(&stage, operation).await;
        let stop = CancellationToken::new();
        let mut sender = Sender::new(Instant::now(), stop.clone());
        stage.panel.stop_after(1, stop);
        let _cut_off = push(&mut sender, &stage.panel, &claimed, stage.clock.now()).await;
        rescued(&stage).await;
        // After the last one, before the record.
        let claimed = claim(&stage, operation).await;
        assert!(claimed.unanswered, "{asked:?}");
        let mut sender = Sender::new(Instant::now(), CancellationToken::new());
        push(&mut sender, &stage.panel, &claimed, stage.clock.now())
            .await
            .unwrap();
        rescued(&stage).await;
        done(&stage, operation).await;

        let state = stage.entitlement(paid.entitlement_id).await;
        let user = stage.panel.users().remove(0);
        assert_eq!(state.applied_version, state.desired_version(), "{asked:?}");
        assert_eq!(
            user.status == RemoteStatus::Active,
            state.access() == Access::Open,
            "{asked:?}"
        );
        assert_eq!(user.squads, state.limits().squads, "{asked:?}");
        let expected = u32::from(matches!(asked, Asked::ResetTraffic));
        assert_eq!(stage.panel.resets() - resets, expected, "{asked:?}");
        assert_eq!(stage.panel.users().len(), 1);
    }
}
