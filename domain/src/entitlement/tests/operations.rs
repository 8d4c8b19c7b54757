//! How operations open and end.

use super::*;

fn shown(number: u128, version: i64, second: i64) -> Command {
    Command::RecordApplied {
        operation_id: id(number),
        version,
        remote_user_id: 500,
        remote_status: RemoteStatus::Active,
        at: at(second),
    }
}

fn supersede(number: u128) -> Command {
    Command::CloseSuperseded {
        operation_id: id(number),
        at: at(99),
    }
}

fn fail(number: u128) -> Command {
    Command::RecordFailed {
        operation_id: id(number),
        code: "remnawave_http_400".to_owned(),
        attempts: 12,
        at: at(99),
    }
}

fn retry(number: u128) -> Command {
    Command::RetryOperation {
        operation_id: id(number),
        at: at(99),
    }
}

fn cancel(number: u128) -> Command {
    Command::CancelOperation {
        operation_id: id(number),
        code: "operator_cancelled".to_owned(),
        at: at(99),
    }
}

fn failed(number: u128) -> Event {
    Event::OperationFailed {
        operation_id: id(number),
        code: "remnawave_http_400".to_owned(),
        attempts: 12,
        at: at(99),
    }
}

fn retried(number: u128) -> Event {
    Event::OperationRetried {
        operation_id: id(number),
        at: at(99),
    }
}

fn cancelled(number: u128) -> Event {
    Event::OperationCancelled {
        operation_id: id(number),
        code: "operator_cancelled".to_owned(),
        at: at(99),
    }
}

fn reconcile(number: u128) -> Command {
    Command::OpenReconcile {
        operation: open(number),
        at: at(99),
    }
}

fn reconciling(number: u128, version: i64) -> Event {
    opened(number, OperationKind::Reconcile, version, None, 99)
}

#[test]
fn a_push_records_the_version_and_ends_its_operation() {
    check(
        live_and([]),
        shown(61, 1, 99),
        Ok(vec![applied(1, 99), succeeded(61, false, 99)]),
    );
    let state = folded(live_and([applied(1, 99), succeeded(61, false, 99)]));
    assert_eq!((state.applied_version, state.remote_user_id), (1, Some(500)));
    assert_eq!(state.remote_status, Some(RemoteStatus::Active));
}

#[test]
fn any_operation_may_push_a_newer_version_and_the_others_close_without_a_push() {
    check(
        extended_and([]),
        shown(61, 2, 99),
        Ok(vec![applied(2, 99), succeeded(61, false, 99)]),
    );
    let given = || extended_and([applied(2, 99), succeeded(61, false, 99)]);
    check(given(), supersede(62), Ok(vec![succeeded(62, true, 99)]));
    check(extended_and([applied(1, 50)]), supersede(62), Err(Error::NotSuperseded));
    check(given(), shown(62, 2, 99), Ok(vec![succeeded(62, false, 99)]));
}

#[test]
fn a_version_that_was_never_desired_or_misses_the_goal_is_refused() {
    for version in [0, -1, 3, i64::MAX, i64::MIN] {
        check(extended_and([]), shown(62, version, 99), Err(Error::UnknownVersion));
    }
    check(extended_and([]), shown(62, 1, 99), Err(Error::VersionBehind));
    check(live_and([]), shown(99, 1, 99), Err(Error::UnknownOperation));
}

#[test]
fn an_applied_version_never_goes_back() {
    let given = live_and([extended(2, 60 * DAY, 2, DAY), reconciling(70, 1), applied(2, 99)]);
    check(given, shown(70, 1, 100), Ok(vec![succeeded(70, false, 100)]));
}

#[test]
fn another_look_at_the_same_version_is_news_and_the_same_look_is_not() {
    let given = || live_and([applied(1, 50), succeeded(61, false, 50), reconciling(70, 1)]);
    check(given(), shown(70, 1, 100), Ok(vec![succeeded(70, false, 100)]));
    let disabled = Command::RecordApplied {
        operation_id: id(70),
        version: 1,
        remote_user_id: 501,
        remote_status: RemoteStatus::Disabled,
        at: at(100),
    };
    let seen = Event::Applied {
        version: 1,
        remote_user_id: 501,
        remote_status: RemoteStatus::Disabled,
        at: at(100),
    };
    check(given(), disabled, Ok(vec![seen, succeeded(70, false, 100)]));
}

#[test]
fn an_old_look_is_never_news() {
    let disabled = |number, version| Command::RecordApplied {
        operation_id: id(number),
        version,
        remote_user_id: 500,
        remote_status: RemoteStatus::Disabled,
        at: at(100),
    };
    check(
        live_and([applied(1, 50), succeeded(61, false, 50)]),
        disabled(61, 1),
        Ok(vec![]),
    );
    let behind = extended_and([reconciling(70, 1), applied(2, 99)]);
    check(behind, disabled(70, 1), Ok(vec![succeeded(70, false, 100)]));
    assert_eq!(
        folded(extended_and([applied(2, 50), applied(1, 60)])).applied_version,
        2
    );
}

#[test]
fn late_repeats_change_nothing() {
    let done = || live_and([applied(1, 50), succeeded(61, false, 50)]);
    for command in [shown(61, 1, 60), supersede(61), fail(61)] {
        check(done(), command, Ok(vec![]));
    }
    let gone = || live_and([failed(61)]);
    for command in [fail(61), supersede(61)] {
        check(gone(), command, Ok(vec![]));
    }
    check(live_and([cancelled(61)]), fail(61), Ok(vec![]));
}

#[test]
fn what_the_panel_shows_is_recorded_even_when_the_operation_has_ended() {
    check(live_and([failed(61)]), shown(61, 1, 100), Ok(vec![applied(1, 100)]));
    check(live_and([cancelled(61)]), shown(61, 1, 100), Ok(vec![applied(1, 100)]));
    check(
        live_and([cancelled(61), applied(1, 100)]),
        shown(61, 1, 101),
        Ok(vec![]),
    );
}

#[test]
fn only_a_failed_operation_is_reopened() {
    check(live_and([]), fail(61), Ok(vec![failed(61)]));
    check(live_and([failed(61)]), retry(61), Ok(vec![retried(61)]));
    check(live_and([failed(61), retried(61)]), retry(61), Ok(vec![]));
    check(live_and([failed(61), retried(61)]), fail(61), Ok(vec![failed(61)]));
    check(
        live_and([applied(1, 50), succeeded(61, false, 50)]),
        retry(61),
        Err(Error::NotRetryable),
    );
    check(live_and([cancelled(61)]), retry(61), Err(Error::NotRetryable));
    check(live_and([]), retry(99), Err(Error::UnknownOperation));
}

#[test]
fn an_operator_abandons_what_has_not_succeeded() {
    check(live_and([]), cancel(61), Ok(vec![cancelled(61)]));
    check(live_and([failed(61)]), cancel(61), Ok(vec![cancelled(61)]));
    check(live_and([cancelled(61)]), cancel(61), Ok(vec![]));
    check(
        live_and([applied(1, 50), succeeded(61, false, 50)]),
        cancel(61),
        Err(Error::NotCancellable),
    );
    let state = folded(live_and([cancelled(61)]));
    assert_eq!(
        state.desired_at(at(99)).map(|desired| desired.version),
        Some(1),
        "the desired state stays"
    );
}

#[test]
fn at_most_one_reconcile_is_open() {
    check(live_and([]), reconcile(70), Ok(vec![reconciling(70, 1)]));
    check(live_and([reconciling(70, 1)]), reconcile(71), Ok(vec![]));
    check(live_and([reconciling(70, 1)]), reconcile(70), Ok(vec![]));
    check(
        live_and([reconciling(70, 1), succeeded(70, false, 99)]),
        reconcile(71),
        Ok(vec![reconciling(71, 1)]),
    );
    check(live_and([]), reconcile(61), Err(Error::OperationConflict));
    check(
        live_and([reconciling(70, 1), failed(70), reconciling(71, 1)]),
        retry(70),
        Err(Error::NotRetryable),
    );
    check(vec![], reconcile(70), Err(Error::NotFound));
}

#[test]
fn a_reconcile_is_opened_for_what_is_due() {
    let mut scheduled = extended(2, 60 * DAY, 2, 1);
    if let Event::Extended { effective_at, .. } = &mut scheduled {
        *effective_at = Some(at(DAY));
    }
    check(live_and([scheduled]), reconcile(70), Ok(vec![reconciling(70, 1)]));
}

#[test]
fn an_operation_of_an_unknown_name_is_kept_as_it_came() {
    let stored = r#"{"type":"entitlement.operation_opened","operationId":"00000000-0000-0000-0000-000000000046","operation":"teleport",
        "version":1,"orderId":null,"idempotencyKey":"k","correlationId":"c","effectiveAt":null,"at":"2030-03-17T17:46:40Z"}"#;
    let event: Event = serde_json::from_str(stored).expect("readable");
    let state = folded(live_and([event]));
    let kind = state.operations.get(&id(70)).map(|operation| operation.kind.clone());
    assert_eq!(kind, Some(OperationKind::Unknown("teleport".to_owned())));
}
