//! Given events, when a command, then events or a refusal: periods, desired state, names.

mod changes;
mod desired;
mod drift;
mod operations;
mod pauses;
mod upkeep;

use cqrs_es::test::TestFramework;

use super::{Command, Entitlement, Error, Event, OpenOperation, OperationKind, RemoteStatus};
use crate::{
    aggregate::{Decide as _, Rejection as _},
    fixtures::{DAY, at, id, terms},
    ids::OrderId,
    log::Metadata,
    plan::Terms,
    topics::{Message, OperationOpened},
};

pub(super) fn open(number: u128) -> OpenOperation {
    OpenOperation {
        operation_id: id(number),
        idempotency_key: format!("key:{number}"),
        correlation_id: "flow".to_owned(),
    }
}

pub(super) fn grant(effective: Option<i64>) -> Command {
    Command::Grant {
        entitlement_id: id(30),
        subscription_id: id(40),
        customer_id: id(2),
        order_id: id(1),
        terms: terms(30, 3),
        effective_at: effective.map(at),
        operation: open(61),
        at: at(0),
    }
}

pub(super) fn granted() -> Event {
    Event::Granted {
        entitlement_id: id(30),
        subscription_id: id(40),
        customer_id: id(2),
        order_id: id(1),
        terms: terms(30, 3),
        starts_at: at(0),
        ends_at: at(30 * DAY),
        effective_at: None,
        version: 1,
        at: at(0),
    }
}

pub(super) fn opened(number: u128, operation: OperationKind, version: i64, order: Option<u128>, second: i64) -> Event {
    Event::OperationOpened {
        operation_id: id(number),
        operation,
        version,
        order_id: order.map(id::<OrderId>),
        idempotency_key: format!("key:{number}"),
        correlation_id: "flow".to_owned(),
        effective_at: None,
        at: at(second),
    }
}

pub(super) fn extend(order: u128, terms: Terms, second: i64) -> Command {
    Command::Extend {
        order_id: id(order),
        terms,
        effective_at: None,
        operation: open(order + 60),
        at: at(second),
    }
}

pub(super) fn extended(order: u128, ends: i64, version: i64, second: i64) -> Event {
    Event::Extended {
        order_id: id(order),
        terms: terms(30, 3),
        ends_at: at(ends),
        effective_at: None,
        reset_traffic: true,
        limits: terms(30, 3).limits,
        version,
        at: at(second),
    }
}

/// Granted at 0 for 30 days with its `create` operation 61, and what happened then.
pub(super) fn live_and(more: impl IntoIterator<Item = Event>) -> Vec<Event> {
    [granted(), opened(61, OperationKind::Create, 1, Some(1), 0)]
        .into_iter()
        .chain(more)
        .collect()
}

/// The same with a further period of order 2 and its operation 62.
pub(super) fn extended_and(more: impl IntoIterator<Item = Event>) -> Vec<Event> {
    let further = [
        extended(2, 60 * DAY, 2, DAY),
        opened(62, OperationKind::Extend, 2, Some(2), DAY),
    ];
    live_and(further.into_iter().chain(more))
}

pub(super) fn applied(version: i64, second: i64) -> Event {
    Event::Applied {
        version,
        remote_user_id: 500,
        remote_status: RemoteStatus::Active,
        at: at(second),
    }
}

pub(super) fn succeeded(number: u128, superseded: bool, second: i64) -> Event {
    Event::OperationSucceeded {
        operation_id: id(number),
        superseded,
        at: at(second),
    }
}

pub(super) fn check(given: Vec<Event>, when: Command, then: Result<Vec<Event>, Error>) {
    let ran = TestFramework::<Entitlement>::with(()).given(given).when(when);
    match then {
        Ok(events) => ran.then_expect_events(events),
        Err(refusal) => ran.then_expect_error(refusal),
    }
}

pub(super) fn folded(events: impl AsRef<[Event]>) -> Entitlement {
    crate::properties::fold(events.as_ref())
}

#[test]
fn a_grant_starts_now_and_opens_a_create() {
    check(vec![], grant(None), Ok(live_and([])));
}

#[test]
fn a_grant_that_takes_effect_later_keeps_its_whole_period() {
    let later = 20 * DAY;
    let events = Entitlement::default().decide(grant(Some(later))).expect("accepted");
    let [
        Event::Granted {
            starts_at,
            ends_at,
            effective_at,
            ..
        },
        Event::OperationOpened { effective_at: due, .. },
    ] = events.as_slice()
    else {
        panic!("{events:?}")
    };
    assert_eq!((*starts_at, *ends_at), (at(later), at(50 * DAY)));
    assert_eq!((*effective_at, *due), (Some(at(later)), Some(at(later))));
}

#[test]
fn granting_again_is_a_repeat_or_refused() {
    check(live_and([]), grant(None), Ok(vec![]));
    check(extended_and([applied(2, DAY)]), grant(None), Ok(vec![]));
    let others: [fn(&mut Command); 4] = [
        |command| {
            if let Command::Grant { order_id, .. } = command {
                *order_id = id(9);
            }
        },
        |command| {
            if let Command::Grant { subscription_id, .. } = command {
                *subscription_id = id(9);
            }
        },
        |command| {
            if let Command::Grant { customer_id, .. } = command {
                *customer_id = id(9);
            }
        },
        |command| {
            if let Command::Grant { entitlement_id, .. } = command {
                *entitlement_id = id(9);
            }
        },
    ];
    for change in others {
        let mut command = grant(None);
        change(&mut command);
        check(live_and([]), command, Err(Error::AlreadyGranted));
    }
}

#[test]
fn an_extension_builds_on_the_later_of_end_and_now() {
    let cases = [
        (25 * DAY, 60 * DAY),
        (30 * DAY, 60 * DAY),
        (31 * DAY, 61 * DAY),
        (0, 60 * DAY),
    ];
    for (now, ends) in cases {
        let then = vec![
            extended(2, ends, 2, now),
            opened(62, OperationKind::Extend, 2, Some(2), now),
        ];
        check(live_and([]), extend(2, terms(30, 3), now), Ok(then));
    }
}

#[test]
fn an_order_extends_once() {
    check(extended_and([]), extend(2, terms(30, 3), DAY), Ok(vec![]));
    check(live_and([]), extend(1, terms(30, 3), DAY), Ok(vec![]));
    let taken = Command::Extend {
        order_id: id(3),
        terms: terms(30, 3),
        effective_at: None,
        operation: open(61),
        at: at(DAY),
    };
    check(live_and([]), taken, Err(Error::OperationConflict));
    check(vec![], extend(2, terms(30, 3), DAY), Err(Error::NotFound));
}

#[test]
fn terms_out_of_range_are_refused() {
    let wrong: [fn(&mut Terms); 7] = [
        |terms| terms.duration_seconds = 0,
        |terms| terms.duration_seconds = -1,
        |terms| terms.duration_seconds = i64::MAX,
        |terms| terms.grace_seconds = -1,
        |terms| terms.limits.traffic_bytes = Some(-1),
        |terms| terms.limits.traffic_bytes = Some(0),
        |terms| terms.limits.devices = Some(0),
    ];
    for change in wrong {
        let mut terms = terms(30, 3);
        change(&mut terms);
        check(live_and([]), extend(2, terms, DAY), Err(Error::InvalidTerms));
    }
}

#[test]
fn an_end_beyond_the_calendar_is_refused() {
    let mut long = terms(30, 0);
    long.duration_seconds = crate::plan::MAX_SPAN_SECONDS;
    let mut entitlement = folded(live_and([]));
    let mut order = 2;
    let refusal = loop {
        match entitlement.decide(extend(order, long.clone(), DAY)) {
            Ok(events) => events.into_iter().for_each(|event| entitlement.evolve(event)),
            Err(refusal) => break refusal,
        }
        order += 1;
        assert!(order < 100, "a hundred centuries must end the calendar");
    };
    assert_eq!(refusal, Error::EndOutOfRange);
    assert!(
        entitlement
            .ends_at
            .is_some_and(|end| end.to_rfc3339().len() == "2026-01-01T00:00:00+00:00".len())
    );
}

#[test]
fn the_grace_counts_towards_the_end_of_the_calendar() {
    let mut last = granted();
    if let Event::Granted { ends_at, .. } = &mut last {
        *ends_at = "9999-11-15T00:00:00Z".parse().expect("a moment");
    }
    let given = || vec![last.clone()];
    check(given(), extend(2, terms(30, 60), 0), Err(Error::EndOutOfRange));
    assert!(folded(given()).decide(extend(2, terms(30, 0), 0)).is_ok());
}

#[test]
fn only_an_opened_operation_is_announced() {
    let announce = |event: &Event| folded(extended_and([])).announce(event, "entitlement:30:2", &Metadata::default());
    let opening = opened(62, OperationKind::Extend, 2, Some(2), DAY);
    assert_eq!(
        announce(&opening),
        [Message::OperationOpened(OperationOpened { operation_id: id(62) })]
    );
    for quiet in [
        granted(),
        extended(2, 60 * DAY, 2, DAY),
        applied(2, DAY),
        succeeded(62, false, DAY),
    ] {
        assert!(announce(&quiet).is_empty(), "{quiet:?}");
    }
    assert!(
        announce(&Event::OperationRetried {
            operation_id: id(62),
            at: at(DAY)
        })
        .is_empty()
    );
}

#[test]
fn refusals_have_stable_codes() {
    let codes = [
        (Error::NotFound, "entitlement_not_found"),
        (Error::AlreadyGranted, "entitlement_conflict"),
        (Error::InvalidTerms, "invalid_terms"),
        (Error::EndOutOfRange, "invalid_terms"),
        (Error::UnknownOperation, "operation_not_found"),
        (Error::OperationConflict, "fulfillment_operation_rejected"),
        (Error::NotSuperseded, "state_conflict"),
        (Error::VersionBehind, "state_conflict"),
        (Error::NotRetryable, "state_conflict"),
        (Error::NotCancellable, "state_conflict"),
        (Error::UnknownVersion, "unknown_version"),
    ];
    for (refusal, code) in codes {
        assert_eq!(refusal.code(), code);
    }
}
