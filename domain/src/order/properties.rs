//! Any sequence of commands keeps the invariants of the module's head.

use proptest::prelude::*;

use super::{Classification, Command, Event, Item, Operation, Order, State};
use crate::{
    fixtures::{at, currency, id, stars, terms},
    money::Money,
    properties::walk,
};

const DUE: i64 = 49_900;

fn any_item() -> impl Strategy<Value = Item> {
    let plan = Item::Plan {
        operation: Operation::Purchase,
        entitlement_id: id(30),
        subscription_id: id(40),
        terms: terms(30, 3),
    };
    prop_oneof![3 => Just(plan), 1 => Just(Item::Goods { product: stars() })]
}

fn any_place() -> impl Strategy<Value = Command> {
    let amounts = prop_oneof![
        6 => Just((DUE, 0, 0)),
        1 => Just((DUE + 10_000, 0, 10_000)),
        1 => Just((DUE, 0, DUE)),
        2 => (-5..100_i64, -5..100_i64, -5..100_i64),
    ];
    (any_item(), amounts, 0..100_i64).prop_map(|(item, (subtotal_minor, discount_minor, wallet_minor), second)| {
        Command::Place {
            order_id: id(1),
            customer_id: id(2),
            item,
            currency: currency("RUB"),
            subtotal_minor,
            discount_minor,
            wallet_minor,
            expires_at: at(3600),
            at: at(second),
        }
    })
}

fn any_open() -> impl Strategy<Value = Command> {
    let provider = prop::sample::select(vec!["cryptobot", "manual"]);
    (50..53_u128, provider, prop::option::of(0..9000_i64), 0..9000_i64).prop_map(
        |(intent, provider, window, second)| {
            let window_until = window.map(at);
            Command::OpenIntent {
                intent_id: id(intent),
                provider: provider.to_owned(),
                window_until,
                at: at(second),
            }
        },
    )
}

fn any_payment() -> impl Strategy<Value = Command> {
    let provider = prop::sample::select(vec!["cryptobot", "manual"]);
    let minor = prop_oneof![4 => Just(DUE), 1 => Just(DUE - 1), 1 => Just(DUE + 1), 1 => -10..10_i64];
    let code = prop_oneof![6 => Just("RUB"), 1 => Just("USD")];
    (50..54_u128, provider, 0..4_u8, minor, code, 0..9000_i64).prop_map(
        |(intent, provider, event, minor, code, second)| Command::ObservePayment {
            intent_id: id(intent),
            provider: provider.to_owned(),
            provider_event_id: format!("e{event}"),
            amount: Money::new(minor, currency(code)).expect("in range"),
            at: at(second),
        },
    )
}

fn any_command() -> impl Strategy<Value = Command> {
    prop_oneof![
        3 => any_place(),
        4 => any_open(),
        6 => any_payment(),
        1 => (0..9000_i64).prop_map(|second| Command::Cancel { at: at(second) }),
        1 => (0..9000_i64).prop_map(|second| Command::Expire { at: at(second) }),
        1 => (0..9000_i64).prop_map(|second| Command::MarkFulfilled { at: at(second) }),
    ]
}

fn check(before: &Order, events: &[Event], after: &Order) -> Result<(), TestCaseError> {
    // I1
    prop_assert_eq!(
        after.wallet_minor + after.external_minor,
        after.subtotal_minor - after.discount_minor
    );
    prop_assert!(
        [
            after.subtotal_minor,
            after.discount_minor,
            after.wallet_minor,
            after.external_minor
        ]
        .iter()
        .all(|part| *part >= 0)
    );
    // I5
    match before.state {
        State::Paid => prop_assert!(matches!(after.state, State::Paid | State::Fulfilled)),
        State::Fulfilled => prop_assert_eq!(after.state, State::Fulfilled),
        State::Cancelled => prop_assert!(matches!(after.state, State::Cancelled | State::Paid)),
        State::Expired => prop_assert!(matches!(after.state, State::Expired | State::Paid)),
        State::Absent | State::Pending => {}
    }
    // I3
    for event in events {
        if let Event::PaymentObserved {
            classification, amount, ..
        } = event
        {
            let settles = events.iter().any(|other| matches!(other, Event::Paid { .. }));
            prop_assert_eq!(settles, classification.settles());
            prop_assert_eq!(after.state == before.state, !settles);
            prop_assert!(!settles || *amount == before.external().expect("a placed order"));
        }
    }
    prop_assert!(after.expires_at >= before.expires_at, "a window only grows");
    Ok(())
}

proptest! {
    #[test]
    fn any_sequence_of_commands_keeps_the_invariants(commands in prop::collection::vec(any_command(), 0..40)) {
        let history = walk::<Order>(commands, check)?;
        // I2
        let paid = history.iter().filter(|event| matches!(event, Event::Paid { .. })).count();
        prop_assert!(paid <= 1);
        // I4
        let mut known = std::collections::BTreeSet::new();
        for event in &history {
            if let Event::PaymentObserved { intent_id, provider_event_id, .. } = event {
                prop_assert!(known.insert((*intent_id, provider_event_id.clone())));
            }
        }
    }

    /// Cancel, expiry and payment may race in any order: the money is never lost in an unpaid state.
    #[test]
    fn an_exact_payment_always_settles_once(others in prop::collection::vec(any_command(), 0..12), second in 0..9000_i64) {
        let mut commands = vec![
            Command::Place {
                order_id: id(1), customer_id: id(2), item: Item::Goods { product: stars() }, currency: currency("RUB"),
                subtotal_minor: DUE, discount_minor: 0, wallet_minor: 0, expires_at: at(3600), at: at(0),
            },
            Command::OpenIntent { intent_id: id(77), provider: "cryptobot".to_owned(), window_until: None, at: at(1) },
        ];
        commands.extend(others);
        commands.push(Command::ObservePayment {
            intent_id: id(77), provider: "cryptobot".to_owned(), provider_event_id: "last".to_owned(),
            amount: Money::new(DUE, currency("RUB")).expect("in range"), at: at(second),
        });
        let history = walk::<Order>(commands, check)?;
        let settling = history.iter().filter(|event| matches!(event, Event::Paid { .. })).count();
        prop_assert_eq!(settling, 1);
        let last = history.iter().rev().find_map(|event| {
            if let Event::PaymentObserved { classification, .. } = event { Some(*classification) } else { None }
        });
        prop_assert!(last.is_some_and(|class| class == Classification::Duplicate || class.settles()));
    }
}
