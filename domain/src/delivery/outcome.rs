//! What became of a submission. The one question is whether it was surely not executed: only then may there be another one.

use super::{
    ABANDONED, Delivery, Error, Event, FailureClass, MAX_SUBMISSIONS, POLL_SECONDS, State, Submission, backoff,
};
use crate::time::{Timestamp, plus, plus_seconds};

/// The outcome of submission `attempt`, once; a late repeat changes nothing.
pub(super) fn of_submission(
    delivery: &Delivery,
    attempt: i32,
    outcome: Submission,
    at: Timestamp,
) -> Result<Vec<Event>, Error> {
    if !delivery.has_started(attempt) {
        return Err(Error::StaleAttempt);
    }
    match &delivery.state {
        State::Submitting { attempt: open, .. } if *open == attempt => Ok(first_answer(delivery, attempt, outcome, at)),
        // Given up as abandoned, and then its answer came: goods that were bought are a fact, anything else stays with the person.
        State::NeedsReview { code } if code == ABANDONED && delivery.attempts == attempt => {
            Ok(late_answer(attempt, outcome, at))
        }
        State::Absent
        | State::Owed
        | State::Submitting { .. }
        | State::Accepted { .. }
        | State::RetryWait { .. }
        | State::NeedsReview { .. }
        | State::Delivered
        | State::Failed { .. }
        | State::Cancelled => Ok(Vec::new()),
    }
}

fn first_answer(delivery: &Delivery, attempt: i32, outcome: Submission, at: Timestamp) -> Vec<Event> {
    match outcome {
        Submission::Delivered => vec![Event::Delivered { attempt, at }],
        // Without a reference nobody can ask again.
        Submission::Accepted { reference } if reference.is_empty() => {
            parked(attempt, "reference_missing".to_owned(), at)
        }
        Submission::Accepted { reference } => vec![accepted(attempt, reference, at)],
        Submission::Failed { class, code } => failed(delivery, attempt, class, code, at),
    }
}

fn late_answer(attempt: i32, outcome: Submission, at: Timestamp) -> Vec<Event> {
    match outcome {
        Submission::Delivered => vec![Event::Delivered { attempt, at }],
        Submission::Accepted { reference } if !reference.is_empty() => vec![accepted(attempt, reference, at)],
        Submission::Accepted { .. } | Submission::Failed { .. } => Vec::new(),
    }
}

fn accepted(attempt: i32, reference: String, at: Timestamp) -> Event {
    let poll_at = plus_seconds(at, POLL_SECONDS).unwrap_or(at);
    Event::Accepted {
        attempt,
        reference,
        poll_at,
        at,
    }
}

fn parked(attempt: i32, code: String, at: Timestamp) -> Vec<Event> {
    let class = FailureClass::Ambiguous;
    let failed = Event::AttemptFailed {
        attempt,
        class,
        code: code.clone(),
        retry_at: None,
        at,
    };
    vec![failed, Event::Parked { code, at }]
}

fn failed(delivery: &Delivery, attempt: i32, class: FailureClass, code: String, at: Timestamp) -> Vec<Event> {
    let end = match class {
        FailureClass::Ambiguous => return parked(attempt, code, at),
        FailureClass::Permanent | FailureClass::RecipientInvalid => code.clone(),
        FailureClass::Retryable | FailureClass::ProviderBalance | FailureClass::ProviderUnavailable => {
            if attempt < MAX_SUBMISSIONS {
                let retry_at = plus(at, backoff(attempt.saturating_add(1)));
                return vec![Event::AttemptFailed {
                    attempt,
                    class,
                    code,
                    retry_at: Some(retry_at),
                    at,
                }];
            }
            "attempts_exhausted".to_owned()
        }
    };
    let mut events = vec![
        Event::AttemptFailed {
            attempt,
            class,
            code,
            retry_at: None,
            at,
        },
        Event::Failed { code: end, at },
    ];
    events.extend(delivery.refund_due(at));
    events
}

/// A submission whose worker vanished: it may have been executed, so only a person can tell.
pub(super) fn of_abandoned(delivery: &Delivery, attempt: i32, at: Timestamp) -> Result<Vec<Event>, Error> {
    if !delivery.has_started(attempt) {
        return Err(Error::StaleAttempt);
    }
    match delivery.state {
        State::Submitting {
            attempt: open,
            deadline,
        } if open == attempt => {
            if at < deadline {
                Err(Error::SubmissionOpen)
            } else {
                Ok(parked(attempt, ABANDONED.to_owned(), at))
            }
        }
        State::Absent
        | State::Owed
        | State::Submitting { .. }
        | State::Accepted { .. }
        | State::RetryWait { .. }
        | State::NeedsReview { .. }
        | State::Delivered
        | State::Failed { .. }
        | State::Cancelled => Ok(Vec::new()),
    }
}

/// A poll that finds nothing new adds no event: the schedule alone knows when the next one is due.
pub(super) fn of_poll(delivery: &Delivery, outcome: Option<Submission>, at: Timestamp) -> Result<Vec<Event>, Error> {
    match (&delivery.state, outcome) {
        (State::Accepted { attempt, .. }, Some(Submission::Delivered)) => {
            Ok(vec![Event::Delivered { attempt: *attempt, at }])
        }
        (State::Accepted { .. }, Some(Submission::Failed { class, code })) => Ok(poll_failed(class, code, at)),
        (State::Accepted { .. }, Some(Submission::Accepted { .. }) | None)
        | (State::NeedsReview { .. } | State::Delivered | State::Failed { .. } | State::Cancelled, _) => Ok(Vec::new()),
        (State::Absent | State::Owed | State::Submitting { .. } | State::RetryWait { .. }, _) => Err(Error::NotPolled),
    }
}

/// The provider took the order, so no failure gives the money back by itself: a person decides.
fn poll_failed(class: FailureClass, code: String, at: Timestamp) -> Vec<Event> {
    match class {
        // The question was not answered. It may be asked again.
        FailureClass::Retryable | FailureClass::ProviderUnavailable => Vec::new(),
        FailureClass::ProviderBalance
        | FailureClass::Permanent
        | FailureClass::RecipientInvalid
        | FailureClass::Ambiguous => vec![Event::Parked { code, at }],
    }
}
