//! Every end without goods owes the price back, once; no other does.

use super::*;

fn refund(second: i64) -> Event {
    Event::RefundOwed {
        amount: roubles(PRICE),
        at: at(second),
    }
}

fn resolve(verdict: Verdict) -> Command {
    Command::Resolve {
        verdict,
        reason: "asked the provider".to_owned(),
        at: at(300),
    }
}

fn resolved(delivered: bool) -> Event {
    Event::Resolved {
        delivered,
        reason: "asked the provider".to_owned(),
        at: at(300),
    }
}

fn cancel() -> Command {
    Command::Cancel {
        reason: "the customer asked".to_owned(),
        at: at(300),
    }
}

fn cancelled() -> Event {
    Event::Cancelled {
        reason: "the customer asked".to_owned(),
        at: at(300),
    }
}

fn in_review() -> Vec<Event> {
    submitting_and([
        attempt_failed(1, FailureClass::Ambiguous, "http_502", None, 12),
        parked("http_502", 12),
    ])
}

#[test]
fn a_final_failure_owes_the_price() {
    for class in [FailureClass::Permanent, FailureClass::RecipientInvalid] {
        let failed = Event::Failed {
            code: "http_429".to_owned(),
            at: at(12),
        };
        let then = vec![attempt_failed(1, class, "http_429", None, 12), failed, refund(12)];
        check(submitting_and([]), record(1, failure(class), 12), Ok(then));
    }
}

#[test]
fn a_failed_poll_never_gives_money_back_by_itself() {
    let given = || submitting_and([accepted(1, "r", 12)]);
    for class in [FailureClass::Retryable, FailureClass::ProviderUnavailable] {
        check(given(), poll(Some(failure(class))), Ok(vec![]));
    }
    for class in [
        FailureClass::Permanent,
        FailureClass::RecipientInvalid,
        FailureClass::ProviderBalance,
        FailureClass::Ambiguous,
    ] {
        check(given(), poll(Some(failure(class))), Ok(vec![parked("http_429", 200)]));
    }
}

#[test]
fn a_person_decides_a_parked_delivery_once() {
    check(in_review(), resolve(Verdict::Delivered), Ok(vec![resolved(true)]));
    check(
        in_review(),
        resolve(Verdict::NotDelivered),
        Ok(vec![resolved(false), refund(300)]),
    );
    let after = |events: Vec<Event>| in_review().into_iter().chain(events).collect::<Vec<_>>();
    check(after(vec![resolved(true)]), resolve(Verdict::Delivered), Ok(vec![]));
    check(
        after(vec![resolved(true)]),
        resolve(Verdict::NotDelivered),
        Err(Error::NotParked),
    );
    check(
        after(vec![resolved(false), refund(300)]),
        resolve(Verdict::NotDelivered),
        Ok(vec![]),
    );
    check(
        after(vec![resolved(false), refund(300)]),
        resolve(Verdict::Delivered),
        Err(Error::NotParked),
    );
}

#[test]
fn only_a_parked_delivery_is_decided() {
    let polled = submitting_and([accepted(1, "r", 12)]);
    let done = submitting_and([delivered(1, 12)]);
    for given in [owed_and([]), submitting_and([]), waiting(), polled, done] {
        check(given.clone(), resolve(Verdict::Delivered), Err(Error::NotParked));
        check(given, resolve(Verdict::NotDelivered), Err(Error::NotParked));
    }
    check(vec![], resolve(Verdict::Delivered), Err(Error::NotFound));
}

#[test]
fn only_what_was_surely_not_bought_is_withdrawn() {
    check(owed_and([]), cancel(), Ok(vec![cancelled(), refund(300)]));
    check(waiting(), cancel(), Ok(vec![cancelled(), refund(300)]));
    check(owed_and([cancelled(), refund(300)]), cancel(), Ok(vec![]));
    let polled = submitting_and([accepted(1, "r", 12)]);
    let done = submitting_and([delivered(1, 12)]);
    for given in [submitting_and([]), polled, done, in_review()] {
        check(given, cancel(), Err(Error::NotCancellable));
    }
    check(
        owed_and([cancelled(), refund(300)]),
        start(400),
        Err(Error::NotSubmittable),
    );
}

#[test]
fn what_cost_nothing_owes_nothing_back() {
    check(vec![owed(0)], cancel(), Ok(vec![cancelled()]));
    let review = vec![owed(0), started(1, 10), parked("http_502", 12)];
    check(review, resolve(Verdict::NotDelivered), Ok(vec![resolved(false)]));
}
