//! Given events, when a command, then events or a refusal: what is submitted, and how an end is reached.

mod money;

use std::time::Duration;

use cqrs_es::test::TestFramework;

use super::{
    ABANDONED, Command, Delivery, Error, Event, FailureClass, MAX_SUBMISSIONS, POLL_SECONDS, State, Submission,
    Verdict, backoff,
};
use crate::{
    aggregate::{Decide as _, Rejection as _},
    fixtures::{at, id, roubles, stars},
    log::Metadata,
    topics::{DeliveryOwed, Message},
};

const PRICE: i64 = 19_900;

pub(super) fn owe(price_minor: i64) -> Command {
    Command::Owe {
        order_id: id(1),
        customer_id: id(2),
        product: stars(),
        price: roubles(price_minor),
        at: at(0),
    }
}

pub(super) fn owed(price_minor: i64) -> Event {
    Event::Owed {
        order_id: id(1),
        customer_id: id(2),
        product: stars(),
        price: roubles(price_minor),
        at: at(0),
    }
}

pub(super) fn started(attempt: i32, second: i64) -> Event {
    Event::SubmissionStarted {
        attempt,
        deadline: at(second + 120),
        at: at(second),
    }
}

pub(super) fn start(second: i64) -> Command {
    Command::StartSubmission {
        deadline: at(second + 120),
        at: at(second),
    }
}

pub(super) fn failure(class: FailureClass) -> Submission {
    Submission::Failed {
        class,
        code: "http_429".to_owned(),
    }
}

pub(super) fn accepted_as(reference: &str) -> Submission {
    Submission::Accepted {
        reference: reference.to_owned(),
    }
}

pub(super) fn record(attempt: i32, outcome: Submission, second: i64) -> Command {
    Command::RecordSubmission {
        attempt,
        outcome,
        at: at(second),
    }
}

pub(super) fn poll(outcome: Option<Submission>) -> Command {
    Command::RecordPoll { outcome, at: at(200) }
}

pub(super) fn attempt_failed(attempt: i32, class: FailureClass, code: &str, retry: Option<i64>, second: i64) -> Event {
    let retry_at = retry.map(at);
    Event::AttemptFailed {
        attempt,
        class,
        code: code.to_owned(),
        retry_at,
        at: at(second),
    }
}

pub(super) fn accepted(attempt: i32, reference: &str, second: i64) -> Event {
    let poll_at = at(second + POLL_SECONDS);
    Event::Accepted {
        attempt,
        reference: reference.to_owned(),
        poll_at,
        at: at(second),
    }
}

pub(super) fn parked(code: &str, second: i64) -> Event {
    Event::Parked {
        code: code.to_owned(),
        at: at(second),
    }
}

pub(super) fn delivered(attempt: i32, second: i64) -> Event {
    Event::Delivered {
        attempt,
        at: at(second),
    }
}

/// Owed for 199 roubles, and what happened then.
pub(super) fn owed_and(more: impl IntoIterator<Item = Event>) -> Vec<Event> {
    [owed(PRICE)].into_iter().chain(more).collect()
}

/// Submission 1 was started at second 10.
pub(super) fn submitting_and(more: impl IntoIterator<Item = Event>) -> Vec<Event> {
    owed_and([started(1, 10)].into_iter().chain(more))
}

pub(super) fn waiting() -> Vec<Event> {
    submitting_and([attempt_failed(1, FailureClass::Retryable, "http_429", Some(132), 12)])
}

pub(super) fn check(given: Vec<Event>, when: Command, then: Result<Vec<Event>, Error>) {
    let ran = TestFramework::<Delivery>::with(()).given(given).when(when);
    match then {
        Ok(events) => ran.then_expect_events(events),
        Err(refusal) => ran.then_expect_error(refusal),
    }
}

#[test]
fn goods_are_owed_once() {
    check(vec![], owe(PRICE), Ok(vec![owed(PRICE)]));
    check(waiting(), owe(PRICE), Ok(vec![]));
    check(owed_and([]), owe(PRICE + 1), Err(Error::AlreadyOwed));
    check(vec![], owe(-1), Err(Error::InvalidPrice));
    check(vec![], owe(0), Ok(vec![owed(0)]));
}

#[test]
fn a_submission_is_recorded_before_it_is_sent_and_only_one_is_open() {
    check(owed_and([]), start(10), Ok(vec![started(1, 10)]));
    check(submitting_and([]), start(10), Err(Error::NotSubmittable));
    check(submitting_and([]), start(10_000), Err(Error::NotSubmittable));
    check(waiting(), start(132), Ok(vec![started(2, 132)]));
    check(vec![], start(10), Err(Error::NotFound));
    for end in [
        vec![accepted(1, "r", 12)],
        vec![parked("http_502", 12)],
        vec![delivered(1, 12)],
        vec![Event::Failed {
            code: "c".to_owned(),
            at: at(12),
        }],
    ] {
        check(submitting_and(end), start(10_000), Err(Error::NotSubmittable));
    }
}

#[test]
fn retries_follow_only_what_was_surely_not_executed() {
    for class in [
        FailureClass::Retryable,
        FailureClass::ProviderBalance,
        FailureClass::ProviderUnavailable,
    ] {
        let then = vec![attempt_failed(1, class, "http_429", Some(12 + 120), 12)];
        check(submitting_and([]), record(1, failure(class), 12), Ok(then));
    }
    let then = vec![
        attempt_failed(1, FailureClass::Ambiguous, "http_429", None, 12),
        parked("http_429", 12),
    ];
    check(
        submitting_and([]),
        record(1, failure(FailureClass::Ambiguous), 12),
        Ok(then),
    );
}

#[test]
fn pauses_double_and_the_sixth_failure_is_the_last() {
    let minutes: Vec<u64> = (1..=7).map(|attempt| backoff(attempt).as_secs() / 60).collect();
    assert_eq!(minutes, [1, 2, 4, 8, 16, 32, 60]);
    for odd in [i32::MIN, -1, 0, 64, i32::MAX] {
        assert!((60..=3600).contains(&backoff(odd).as_secs()), "{odd}");
    }
    let mut delivery: Delivery = crate::properties::fold(&owed_and([]));
    let mut waited = Duration::ZERO;
    for attempt in 1..=MAX_SUBMISSIONS {
        apply(&mut delivery, start(0));
        apply(&mut delivery, record(attempt, failure(FailureClass::Retryable), 0));
        if let State::RetryWait { until } = delivery.state {
            waited += (until - at(0)).to_std().expect("ahead");
        }
    }
    assert_eq!(waited, Duration::from_mins(62));
    assert_eq!(
        delivery.state,
        State::Failed {
            code: "attempts_exhausted".to_owned()
        }
    );
    assert_eq!(delivery.refund_owed, Some(roubles(PRICE)));
    assert_eq!(delivery.decide(start(0)), Err(Error::NotSubmittable));
}

#[test]
fn a_stream_that_promises_a_seventh_submission_does_not_get_it() {
    let failed = attempt_failed(6, FailureClass::Retryable, "http_429", Some(132), 12);
    check(
        owed_and([started(6, 10), failed]),
        start(132),
        Err(Error::AttemptsExhausted),
    );
}

pub(super) fn apply(delivery: &mut Delivery, command: Command) {
    for event in delivery.decide(command).expect("accepted") {
        delivery.evolve(event);
    }
}

#[test]
fn an_accepted_submission_is_only_asked_for() {
    check(
        submitting_and([]),
        record(1, accepted_as("r"), 12),
        Ok(vec![accepted(1, "r", 12)]),
    );
    let given = || submitting_and([accepted(1, "r", 12)]);
    check(given(), poll(None), Ok(vec![]));
    check(given(), poll(Some(accepted_as("r"))), Ok(vec![]));
    check(given(), poll(Some(Submission::Delivered)), Ok(vec![delivered(1, 200)]));
    check(given(), start(10_000), Err(Error::NotSubmittable));
    for state in [owed_and([]), submitting_and([]), waiting()] {
        check(state, poll(Some(Submission::Delivered)), Err(Error::NotPolled));
    }
    check(
        submitting_and([accepted(1, "r", 12), delivered(1, 99)]),
        poll(None),
        Ok(vec![]),
    );
}

#[test]
fn an_acceptance_without_a_reference_is_a_case_for_a_person() {
    let ambiguous = attempt_failed(1, FailureClass::Ambiguous, "reference_missing", None, 12);
    let then = vec![ambiguous, parked("reference_missing", 12)];
    check(submitting_and([]), record(1, accepted_as(""), 12), Ok(then));
}

#[test]
fn an_abandoned_submission_is_parked_after_its_deadline_and_never_sent_again() {
    let park = |second| Command::ParkAbandoned {
        attempt: 1,
        at: at(second),
    };
    check(submitting_and([]), park(129), Err(Error::SubmissionOpen));
    let then = || {
        vec![
            attempt_failed(1, FailureClass::Ambiguous, ABANDONED, None, 130),
            parked(ABANDONED, 130),
        ]
    };
    check(submitting_and([]), park(130), Ok(then()));
    check(submitting_and(then()), park(131), Ok(vec![]));
    check(submitting_and(then()), start(10_000), Err(Error::NotSubmittable));
    check(submitting_and([delivered(1, 12)]), park(131), Ok(vec![]));
    check(owed_and([]), park(131), Err(Error::StaleAttempt));
}

#[test]
fn the_late_answer_of_an_abandoned_submission_counts_when_something_was_bought() {
    let given = || {
        let failed = attempt_failed(1, FailureClass::Ambiguous, ABANDONED, None, 130);
        submitting_and([failed, parked(ABANDONED, 130)])
    };
    check(
        given(),
        record(1, Submission::Delivered, 140),
        Ok(vec![delivered(1, 140)]),
    );
    check(
        given(),
        record(1, accepted_as("r"), 140),
        Ok(vec![accepted(1, "r", 140)]),
    );
    for class in [
        FailureClass::Retryable,
        FailureClass::Permanent,
        FailureClass::Ambiguous,
    ] {
        check(given(), record(1, failure(class), 140), Ok(vec![]));
    }
    let answered = submitting_and([parked("http_502", 12)]);
    check(answered, record(1, Submission::Delivered, 140), Ok(vec![]));
    let decided = Event::Resolved {
        delivered: false,
        reason: "asked the provider".to_owned(),
        at: at(135),
    };
    check(
        given().into_iter().chain([decided]).collect(),
        record(1, Submission::Delivered, 140),
        Ok(vec![]),
    );
}

#[test]
fn a_late_repeat_of_an_outcome_changes_nothing() {
    let second = || waiting().into_iter().chain([started(2, 140)]).collect::<Vec<_>>();
    for outcome in [
        Submission::Delivered,
        accepted_as("r"),
        failure(FailureClass::Permanent),
    ] {
        check(waiting(), record(1, outcome.clone(), 150), Ok(vec![]));
        check(second(), record(1, outcome.clone(), 150), Ok(vec![]));
        check(
            submitting_and([delivered(1, 12)]),
            record(1, outcome.clone(), 150),
            Ok(vec![]),
        );
        for never in [0, -1, 3, i32::MAX] {
            check(second(), record(never, outcome.clone(), 150), Err(Error::StaleAttempt));
        }
    }
}

#[test]
fn only_a_debt_of_goods_is_announced() {
    let delivery: Delivery = crate::properties::fold(&owed_and([]));
    let announce = |event: &Event| delivery.announce(event, "delivery:1:1", &Metadata::default());
    assert_eq!(
        announce(&owed(PRICE)),
        [Message::DeliveryOwed(DeliveryOwed { order_id: id(1) })]
    );
    let refund = Event::RefundOwed {
        amount: roubles(PRICE),
        at: at(9),
    };
    for quiet in [started(1, 10), delivered(1, 12), parked("c", 12), refund] {
        assert!(announce(&quiet).is_empty());
    }
}

#[test]
fn refusals_have_stable_codes() {
    let codes = [
        (Error::NotFound, "delivery_not_found"),
        (Error::AlreadyOwed, "delivery_conflict"),
        (Error::AttemptsExhausted, "attempts_exhausted"),
        (Error::InvalidPrice, "invalid_price"),
        (Error::NotSubmittable, "state_conflict"),
        (Error::StaleAttempt, "state_conflict"),
        (Error::SubmissionOpen, "state_conflict"),
        (Error::NotParked, "state_conflict"),
        (Error::NotCancellable, "state_conflict"),
        (Error::NotPolled, "state_conflict"),
    ];
    for (refusal, code) in codes {
        assert_eq!(refusal.code(), code);
    }
}
