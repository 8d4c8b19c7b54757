//! Any sequence of commands keeps the invariants of the module's head.

use proptest::prelude::*;

use super::{ABANDONED, Command, Delivery, Event, FailureClass, MAX_SUBMISSIONS, State, Submission, Verdict};
use crate::{
    fixtures::{at, id, roubles, stars},
    properties::walk,
};

fn any_outcome() -> impl Strategy<Value = Submission> {
    let class = prop::sample::select(vec![
        FailureClass::Retryable,
        FailureClass::Retryable,
        FailureClass::ProviderBalance,
        FailureClass::ProviderUnavailable,
        FailureClass::Permanent,
        FailureClass::RecipientInvalid,
        FailureClass::Ambiguous,
    ]);
    prop_oneof![
        1 => Just(Submission::Delivered),
        1 => prop::sample::select(vec!["", "r1", "r2"]).prop_map(|text| Submission::Accepted { reference: text.to_owned() }),
        4 => class.prop_map(|class| Submission::Failed { class, code: "code".to_owned() }),
    ]
}

fn any_command() -> impl Strategy<Value = Command> {
    let second = || 0..4000_i64;
    prop_oneof![
        2 => prop::sample::select(vec![0, 19_900, 19_900, -1]).prop_map(|minor| Command::Owe {
            order_id: id(1), customer_id: id(2), product: stars(), price: roubles(minor), at: at(0),
        }),
        8 => second().prop_map(|second| Command::StartSubmission { deadline: at(second + 120), at: at(second) }),
        8 => (-1..8_i32, any_outcome(), second())
            .prop_map(|(attempt, outcome, second)| Command::RecordSubmission { attempt, outcome, at: at(second) }),
        2 => (-1..8_i32, second()).prop_map(|(attempt, second)| Command::ParkAbandoned { attempt, at: at(second) }),
        3 => (prop::option::of(any_outcome()), second())
            .prop_map(|(outcome, second)| Command::RecordPoll { outcome, at: at(second) }),
        1 => (any::<bool>(), second()).prop_map(|(delivered, second)| Command::Resolve {
            verdict: if delivered { Verdict::Delivered } else { Verdict::NotDelivered }, reason: "why".to_owned(), at: at(second),
        }),
        1 => second().prop_map(|second| Command::Cancel { reason: "why".to_owned(), at: at(second) }),
    ]
}

fn is_start(event: &Event) -> bool {
    matches!(event, Event::SubmissionStarted { .. })
}

fn check(before: &Delivery, events: &[Event], after: &Delivery) -> Result<(), TestCaseError> {
    // Terminal states absorb.
    if before.state.is_terminal() {
        prop_assert!(events.is_empty());
    }
    // I1, I2: a submission starts only where surely nothing was bought.
    if events.iter().any(is_start) {
        prop_assert!(
            matches!(before.state, State::Owed | State::RetryWait { .. }),
            "{:?}",
            before.state
        );
        prop_assert_eq!(after.attempts, before.attempts + 1);
    }
    // I2: once there is a reference, only a person gives money back.
    if matches!(before.state, State::Accepted { .. }) {
        let kept = matches!(
            after.state,
            State::Accepted { .. } | State::Delivered | State::NeedsReview { .. }
        );
        prop_assert!(kept);
    }
    // I3
    prop_assert!(after.attempts <= MAX_SUBMISSIONS);
    if let State::NeedsReview { code } = &before.state {
        let reopened = matches!(after.state, State::Accepted { .. });
        prop_assert!(!reopened || code == ABANDONED);
        let again = matches!(
            after.state,
            State::Owed | State::RetryWait { .. } | State::Submitting { .. }
        );
        prop_assert!(!again);
    }
    // I4
    let without_goods = matches!(after.state, State::Failed { .. } | State::Cancelled);
    let priced = after.price.is_some_and(|price| price.amount_minor() > 0);
    prop_assert_eq!(after.refund_owed.is_some(), without_goods && priced);
    prop_assert!(after.refund_owed.is_none() || after.refund_owed == after.price);
    Ok(())
}

proptest! {
    #[test]
    fn any_sequence_of_commands_keeps_the_invariants(commands in prop::collection::vec(any_command(), 0..60)) {
        let mut sequence = vec![Command::Owe {
            order_id: id(1), customer_id: id(2), product: stars(), price: roubles(19_900), at: at(0),
        }];
        sequence.extend(commands);
        let history = walk::<Delivery>(sequence, check)?;
        let count = |wanted: fn(&Event) -> bool| history.iter().filter(|event| wanted(event)).count();
        let refunds = count(|event| matches!(event, Event::RefundOwed { .. }));
        let deliveries = count(|event| matches!(event, Event::Delivered { .. }));
        prop_assert!(refunds <= 1 && deliveries <= 1);
        prop_assert!(count(is_start) <= 6);
        // Every submission but the last was surely not executed.
        let starts: Vec<usize> = history.iter().enumerate().filter(|(_, event)| is_start(event)).map(|(place, _)| place).collect();
        for pair in starts.windows(2) {
            let between = &history[pair[0]..pair[1]];
            let surely_not = |event: &Event| {
 matches!(event, Event::AttemptFailed { retry_at: Some(_), class, .. } if *class != FailureClass::Ambiguous)
};
            prop_assert!(between.iter().any(surely_not), "{between:?}");
        }
    }
}
