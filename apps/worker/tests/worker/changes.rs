//! Operators' changes: what each does at the panel, and that nothing undoes it.

use std::time::Duration;

use chrono::TimeDelta;
use domain::{
    entitlement::{Access, Asked, Limit, RemoteStatus},
    fulfillment::retry_delay,
};
use ports::{clock::Clock as _, panel::FailureKind};
use queue::{Failure, Outcome};
use service::entitlements::ChangeRequest;
use uuid::Uuid;

use crate::support::{Paid, Script, Stage, error};

/// A subscription that the panel shows.
pub(crate) async fn live() -> (Stage, Paid) {
    shown_on(Stage::new().await).await
}

/// As [`live`], on a stage that is given.
pub(crate) async fn shown_on(stage: Stage) -> (Stage, Paid) {
    let paid = stage.purchase().await;
    assert_eq!(stage.run(paid.operation_id).await, Ok(Outcome::Done));
    (stage, paid)
}

pub(crate) fn limits(traffic: Option<i64>, devices: Option<i32>) -> Asked {
    Asked::Limits {
        traffic_bytes: traffic.map(Limit::AtMost),
        devices: devices.map(Limit::AtMost),
    }
}

fn calls(stage: &Stage, word: &str) -> usize {
    stage
        .panel
        .writes()
        .iter()
        .filter(|write| write.starts_with(word))
        .count()
}

pub(crate) async fn done(stage: &Stage, operation_id: Uuid) {
    assert_eq!(stage.run(operation_id).await, Ok(Outcome::Done));
    assert_eq!(stage.operation(operation_id).await.status, "succeeded");
    assert_eq!(stage.job_state(operation_id).await, "completed");
}

#[tokio::test]
async fn what_an_operator_set_is_shown_and_outlasts_a_reconcile_and_a_renewal() {
    let (stage, paid) = live().await;
    for asked in [
        limits(Some(5 << 30), None),
        Asked::Squads {
            squads: vec![Uuid::from_u128(8)],
        },
    ] {
        let operation = stage.ask(paid, asked).await;
        done(&stage, operation).await;
    }
    let reconcile = stage.open(paid, ChangeRequest::Reconcile, None).await;
    done(&stage, reconcile).await;
    let more = stage.extend(paid).await;
    done(&stage, more.operation_id).await;
    let user = stage.panel.users().remove(0);
    assert_eq!((user.traffic_limit_bytes, user.device_limit), (5 << 30, Some(3)));
    assert_eq!(user.squads, [Uuid::from_u128(8)]);
    assert_eq!(
        user.expire_at,
        stage.clock.now() + TimeDelta::days(60) + TimeDelta::hours(1)
    );
}

#[tokio::test]
async fn b36_unlimited_is_asked_for_by_its_own_word() {
    let (stage, paid) = live().await;
    let asked = Asked::Limits {
        traffic_bytes: Some(Limit::Unlimited),
        devices: Some(Limit::Unlimited),
    };
    let operation = stage.ask(paid, asked).await;
    done(&stage, operation).await;
    let user = stage.panel.users().remove(0);
    assert_eq!((user.traffic_limit_bytes, user.device_limit.unwrap_or(0)), (0, 0));
}

#[tokio::test]
async fn a_given_end_is_shown_and_opens_nobody_who_was_shut_by_hand() {
    let (stage, paid) = live().await;
    let id = stage.panel.users()[0].id;
    stage.panel.set_status(id, RemoteStatus::Disabled);
    let ends_at = stage.clock.now() + TimeDelta::days(33);
    let operation = stage.ask(paid, Asked::EndsAt { ends_at }).await;
    done(&stage, operation).await;
    let user = stage.panel.users().remove(0);
    assert_eq!(
        (user.expire_at, user.status),
        (ends_at + TimeDelta::hours(1), RemoteStatus::Disabled)
    );
    let operation = stage.ask(paid, Asked::Enable).await;
    done(&stage, operation).await;
    assert_eq!(stage.panel.users()[0].status, RemoteStatus::Active);
}

#[tokio::test]
async fn a_lock_stays_through_a_renewal_until_it_is_lifted() {
    let (stage, paid) = live().await;
    let lock = stage.ask(paid, Asked::Disable).await;
    done(&stage, lock).await;
    assert_eq!(
        (stage.panel.users()[0].status, calls(&stage, "disable")),
        (RemoteStatus::Disabled, 1)
    );
    let more = stage.extend(paid).await;
    done(&stage, more.operation_id).await;
    assert_eq!(
        (stage.panel.users()[0].status, calls(&stage, "disable")),
        (RemoteStatus::Disabled, 1)
    );
    let lift = stage.ask(paid, Asked::Enable).await;
    done(&stage, lift).await;
    assert_eq!(stage.panel.users()[0].status, RemoteStatus::Active);
}

#[tokio::test]
async fn a_pause_of_seven_days_moves_the_end_by_seven_days() {
    let (stage, paid) = live().await;
    let end = stage.panel.users()[0].expire_at;
    let pause = stage.ask(paid, Asked::Pause).await;
    done(&stage, pause).await;
    assert_eq!(stage.panel.users()[0].status, RemoteStatus::Disabled);
    stage.clock.advance(TimeDelta::days(7));
    let reconcile = stage.open(paid, ChangeRequest::Reconcile, None).await;
    done(&stage, reconcile).await;
    assert_eq!(
        stage.panel.users()[0].status,
        RemoteStatus::Disabled,
        "a pause stays one"
    );
    let resume = stage.ask(paid, Asked::Resume).await;
    done(&stage, resume).await;
    let user = stage.panel.users().remove(0);
    assert_eq!(
        (user.expire_at, user.status),
        (end + TimeDelta::days(7), RemoteStatus::Active)
    );
    assert!(stage.entitlement(paid.entitlement_id).await.open_drifts.is_empty());
}

#[tokio::test]
async fn a_late_pause_cannot_undo_a_resumption() {
    let (stage, paid) = live().await;
    let pause = stage.ask(paid, Asked::Pause).await;
    stage
        .panel
        .then(Script::Fail(error(FailureKind::Transient, "remnawave_http_500")));
    assert!(stage.run(pause).await.is_err());
    let resume = stage.ask(paid, Asked::Resume).await;
    done(&stage, resume).await;
    let writes = stage.panel.writes().len();
    stage.due(pause).await;
    done(&stage, pause).await;
    assert_eq!(
        stage.panel.writes().len(),
        writes,
        "its version was shown: nothing is sent"
    );
    assert_eq!(stage.panel.users()[0].status, RemoteStatus::Active);
    let code = stage.operation(pause).await.last_error_code;
    assert_eq!(code.as_deref(), Some("entitlement_superseded"));
}

#[tokio::test]
async fn what_the_panel_says_of_a_paused_user_leaves_the_pause_and_an_open_one_is_shut_again() {
    let (stage, paid) = live().await;
    let id = stage.panel.users()[0].id;
    let pause = stage.ask(paid, Asked::Pause).await;
    done(&stage, pause).await;
    for status in [RemoteStatus::Disabled, RemoteStatus::Expired, RemoteStatus::Active] {
        stage.panel.set_status(id, status);
        let reconcile = stage.open(paid, ChangeRequest::Reconcile, None).await;
        done(&stage, reconcile).await;
        let shown = stage.panel.users()[0].status;
        assert!(
            matches!(shown, RemoteStatus::Disabled | RemoteStatus::Expired),
            "{status:?} became {shown:?}"
        );
        assert_eq!(stage.entitlement(paid.entitlement_id).await.access(), Access::Paused);
    }
}

#[tokio::test]
async fn a_user_that_is_made_while_it_is_shut_is_made_shut() {
    let stage = Stage::new().await;
    let paid = stage.purchase().await;
    let lock = stage.ask(paid, Asked::Disable).await;
    done(&stage, lock).await;
    assert_eq!(stage.panel.users()[0].status, RemoteStatus::Disabled);
    assert_eq!(
        (calls(&stage, "create"), calls(&stage, "disable")),
        (1, 0),
        "there was no open moment"
    );
    assert_eq!(
        stage.run(paid.operation_id).await,
        Ok(Outcome::Done),
        "the order is fulfilled all the same"
    );
}

#[tokio::test]
async fn traffic_is_reset_once_for_each_operation_even_when_its_version_was_shown() {
    let (stage, paid) = live().await;
    let reset = stage.ask(paid, Asked::ResetTraffic).await;
    let newer = stage.ask(paid, limits(Some(5 << 30), None)).await;
    done(&stage, newer).await;
    assert_eq!(stage.panel.resets(), 0, "another operation does not do it");
    done(&stage, reset).await;
    assert_eq!(stage.panel.resets(), 1);
    let again = stage.ask(paid, Asked::ResetTraffic).await;
    done(&stage, again).await;
    assert_eq!(stage.panel.resets(), 2);
}

#[tokio::test]
async fn a_reset_whose_answer_was_lost_is_looked_for_before_it_is_repeated() {
    let (stage, paid) = live().await;
    let reset = stage.ask(paid, Asked::ResetTraffic).await;
    // The update is answered, the reset is done and its answer is lost.
    stage.panel.then(Script::Slow(Duration::ZERO));
    stage.panel.then(Script::DoneUnanswered);
    assert!(stage.run(reset).await.is_err());
    stage.due(reset).await;
    done(&stage, reset).await;
    assert_eq!(stage.panel.resets(), 1, "the panel says when it did it");

    stage.clock.advance(TimeDelta::minutes(5));
    stage.panel.set_clock(stage.clock.now());
    let second = stage.ask(paid, Asked::ResetTraffic).await;
    stage.panel.then(Script::Slow(Duration::ZERO));
    stage
        .panel
        .then(Script::Fail(error(FailureKind::Unanswered, "remnawave_timeout")));
    assert!(stage.run(second).await.is_err());
    stage.due(second).await;
    done(&stage, second).await;
    assert_eq!(
        stage.panel.resets(),
        2,
        "it had not been done: the earlier one does not count"
    );
}

#[tokio::test]
async fn a_renewal_whose_reset_was_not_answered_does_not_reset_twice() {
    let (stage, paid) = live().await;
    let more = stage.extend(paid).await;
    stage.panel.then(Script::Slow(Duration::ZERO));
    stage.panel.then(Script::DoneUnanswered);
    assert!(stage.run(more.operation_id).await.is_err());
    stage.due(more.operation_id).await;
    done(&stage, more.operation_id).await;
    assert_eq!(stage.panel.resets(), 1);
}

/// Each operation with the requests it makes.
fn each() -> Vec<(Asked, Vec<&'static str>)> {
    vec![
        (limits(Some(5 << 30), Some(1)), vec!["update"]),
        (Asked::Squads { squads: Vec::new() }, vec!["update"]),
        (Asked::Disable, vec!["disable", "update"]),
        (Asked::Enable, vec!["update"]),
        (Asked::ResetTraffic, vec!["update", "reset"]),
        (Asked::Pause, vec!["disable", "update"]),
        (Asked::Resume, vec!["update"]),
    ]
}

#[tokio::test]
#[expect(clippy::too_many_lines, reason = "one walk over every operation, told in one piece")]
async fn every_operation_outlasts_limits_failures_and_lost_answers_at_each_of_its_requests() {
    let (stage, paid) = live().await;
    for (asked, requests) in each() {
        for failing in 0..requests.len() {
            if failing > 0 && matches!(asked, Asked::Pause) {
                let resume = stage.ask(paid, Asked::Resume).await;
                done(&stage, resume).await;
            }
            if failing > 0 && matches!(asked, Asked::Disable) {
                let lift = stage.ask(paid, Asked::Enable).await;
                done(&stage, lift).await;
            }
            let operation = stage.ask(paid, asked.clone()).await;
            let limited = FailureKind::RateLimited { retry_after: None };
            let scripts = [
                (Script::Fail(error(limited, "remnawave_http_429")), None),
                (
                    Script::Fail(error(FailureKind::Transient, "remnawave_http_500")),
                    Some((1, "remnawave_http_500")),
                ),
                (Script::DoneUnanswered, Some((2, "remnawave_timeout"))),
            ];
            for (script, expected) in scripts {
                // A request that was carried out is not made again: only the first of them is sure to come.
                for _ in 0..failing {
                    stage.panel.then(Script::Slow(Duration::ZERO));
                }
                stage.panel.then(script);
                let ran = stage.fresh_jobs().run_on(&stage, operation).await;
                match expected {
                    None => assert!(matches!(ran, Ok(Outcome::Snooze(_))), "{asked:?} {ran:?}"),
                    Some((failures, code)) => assert_eq!(
                        ran,
                        Err(Failure::Retry {
                            after: retry_delay(failures),
                            code: code.to_owned()
                        }),
                        "{asked:?}"
                    ),
                }
                stage.panel.forget_script();
                stage.due(operation).await;
                if failing > 0 {
                    break;
                }
            }
            assert_eq!(
                stage.fresh_jobs().run_on(&stage, operation).await,
                Ok(Outcome::Done),
                "{asked:?}"
            );
            assert_eq!(stage.operation(operation).await.status, "succeeded", "{asked:?}");
            let state = stage.entitlement(paid.entitlement_id).await;
            let user = stage.panel.users().remove(0);
            assert_eq!(state.applied_version, state.desired_version(), "{asked:?}");
            assert_eq!(
                user.status == RemoteStatus::Active,
                state.access() == Access::Open,
                "{asked:?}"
            );
            assert_eq!(user.traffic_limit_bytes, state.limits().traffic_bytes.unwrap_or(0));
        }
        if matches!(asked, Asked::Disable) {
            let lift = stage.ask(paid, Asked::Enable).await;
            done(&stage, lift).await;
        }
    }
}
