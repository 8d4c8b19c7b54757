//! Failures that others had in public, as far as a decision alone prevents them.

#![expect(clippy::expect_used, reason = "a test may be blunt")]

use domain::{
    aggregate::Decide,
    entitlement::{self, Entitlement, OpenOperation},
    money::{Error as MoneyError, MAX_MINOR, Money},
    order::{self, Classification, Item, Operation, Order, State},
    plan::{Limits, Terms},
    time::{Timestamp, plus_seconds},
};
use uuid::Uuid;

const DAY: i64 = 86_400;

/// 2026-03-01T12:00:00Z, and days after it.
fn day(days: i64) -> Timestamp {
    second(days * DAY)
}

fn second(seconds: i64) -> Timestamp {
    let start = Timestamp::from_timestamp(1_772_366_400, 0).expect("a moment of the calendar");
    plus_seconds(start, seconds).expect("a moment of the calendar")
}

fn id<T: From<Uuid>>(number: u128) -> T {
    Uuid::from_u128(number).into()
}

fn money(text: &str, currency: &str) -> Money {
    Money::parse_decimal(text, currency.parse().expect("known")).expect("an amount")
}

fn terms(duration_seconds: i64) -> Terms {
    let limits = Limits {
        traffic_bytes: Some(107_374_182_400),
        devices: Some(3),
        squads: Vec::new(),
    };
    Terms {
        plan_version_id: id(9),
        plan_code: "p30".to_owned(),
        duration_seconds,
        grace_seconds: 0,
        limits,
    }
}

/// Decides and applies; what a refused command leaves is the state as it was.
fn run<A: Decide>(state: &mut A, command: A::Command) -> Result<Vec<A::Event>, A::Error>
where
    A::Event: Clone,
{
    let events = state.decide(command)?;
    for event in &events {
        state.apply(event.clone());
    }
    Ok(events)
}

fn place(price: Money, terms: Terms) -> order::Command {
    let item = Item::Plan {
        operation: Operation::Purchase,
        entitlement_id: id(30),
        subscription_id: id(40),
        terms,
    };
    order::Command::Place {
        order_id: id(1),
        customer_id: id(2),
        item,
        currency: price.currency(),
        subtotal_minor: price.amount_minor(),
        discount_minor: 0,
        wallet_minor: 0,
        expires_at: second(3600),
        at: day(0),
    }
}

/// An order of `price` with an open intent.
fn order_of(price: Money) -> Order {
    let mut order = Order::default();
    run(&mut order, place(price, terms(30 * DAY))).expect("placed");
    let intent = order::Command::OpenIntent {
        intent_id: id(50),
        provider: "yookassa".to_owned(),
        window_until: None,
        at: day(0),
    };
    run(&mut order, intent).expect("opened");
    order
}

fn pay(order: &mut Order, event_id: &str, amount: Money, at: Timestamp) -> Result<Vec<order::Event>, order::Error> {
    let (provider, provider_event_id) = ("yookassa".to_owned(), event_id.to_owned());
    run(
        order,
        order::Command::ObservePayment {
            intent_id: id(50),
            provider,
            provider_event_id,
            amount,
            at,
        },
    )
}

fn classes(events: &[order::Event]) -> Vec<Classification> {
    let seen = events.iter().filter_map(|event| {
        if let order::Event::PaymentObserved { classification, .. } = event {
            Some(*classification)
        } else {
            None
        }
    });
    seen.collect()
}

#[test]
fn b11_money_for_a_cancelled_order_is_told_apart_and_counted_once() {
    let mut order = order_of(money("299.00", "RUB"));
    run(&mut order, order::Command::Cancel { at: second(10) }).expect("cancelled");
    let events = pay(&mut order, "pay-1", money("299.00", "RUB"), second(310)).expect("seen");
    assert_eq!(classes(&events), [Classification::PaidAfterCancellation]);
    assert_eq!((order.state, order.paid_minor), (State::Paid, 29_900));
    assert_eq!(
        pay(&mut order, "pay-1", money("299.00", "RUB"), second(320)),
        Ok(vec![])
    );
}

/// Only an exact amount settles; what is less or more stays visible beside the order, and nothing is money for nothing.
#[test]
fn b13_another_amount_settles_nothing_and_stays_visible() {
    let mut order = order_of(money("299.00", "RUB"));
    let less = pay(&mut order, "pay-1", money("298.99", "RUB"), second(10)).expect("seen");
    let more = pay(&mut order, "pay-2", money("300.00", "RUB"), second(20)).expect("seen");
    assert_eq!(
        classes(&[less, more].concat()),
        [Classification::Underpayment, Classification::Overpayment]
    );
    assert_eq!(order.state, State::Pending);
    assert_eq!(
        pay(&mut order, "pay-3", money("0", "RUB"), second(30)),
        Err(order::Error::InvalidPayment)
    );
    let minus = Money::new(-10_000, "RUB".parse().expect("known")).expect("in range");
    assert_eq!(
        pay(&mut order, "pay-4", minus, second(30)),
        Err(order::Error::InvalidPayment)
    );
    pay(&mut order, "pay-5", money("299.00", "RUB"), second(40)).expect("seen");
    assert_eq!(
        (order.state, order.observed.values().map(Vec::len).sum::<usize>()),
        (State::Paid, 3)
    );
}

#[test]
fn b14_an_amount_of_another_currency_settles_nothing() {
    let mut order = order_of(money("299.00", "RUB"));
    let events = pay(&mut order, "pay-1", money("299.00", "USD"), second(10)).expect("seen");
    assert_eq!(
        (classes(&events).as_slice(), order.state),
        ([Classification::CurrencyMismatch].as_slice(), State::Pending)
    );

    let mut yen = order_of(money("500", "JPY"));
    assert_eq!(
        Money::parse_decimal("5.00", "JPY".parse().expect("known")),
        Err(MoneyError::Malformed)
    );
    pay(&mut yen, "pay-1", money("500", "JPY"), second(10)).expect("seen");
    assert_eq!(yen.state, State::Paid);
}

#[test]
fn b15_what_is_no_amount_is_never_zero() {
    for text in ["", "abc", "1e3", "299,00", "299.001", "null", " ", "-0", "0x12b"] {
        let parsed = Money::parse_decimal(text, "RUB".parse().expect("known"));
        assert_eq!(parsed, Err(MoneyError::Malformed), "{text}");
    }
}

#[test]
fn b18_amounts_are_shown_whole_and_never_as_powers() {
    let (balance, price) = (money("149.60", "RUB"), money("150.00", "RUB"));
    let missing = price.checked_sub(balance).expect("one currency");
    assert_eq!(
        [balance, price, missing].map(Money::to_decimal),
        ["149.60", "150.00", "0.40"]
    );
    let large = Money::new(100_000_000, "RUB".parse().expect("known")).expect("in range");
    assert_eq!(large.to_decimal(), "1000000.00");
}

#[test]
fn b33_numbers_beyond_32_bits_work_and_beyond_the_bound_are_refused() {
    let mut big = terms(30 * DAY);
    big.limits.traffic_bytes = Some(5 << 40);
    let price = Money::new(2_147_483_648, "RUB".parse().expect("known")).expect("in range");
    let mut order = Order::default();
    run(&mut order, place(price, big)).expect("placed");
    assert_eq!(order.external_minor, 2_147_483_648);
    for minor in [MAX_MINOR + 1, i64::MAX, i64::MIN] {
        assert_eq!(Money::new(minor, price.currency()), Err(MoneyError::OutOfRange));
    }
    let refused = Order::default().decide(place(price, terms(4_000_000_000 * DAY)));
    assert_eq!(refused, Err(order::Error::InvalidItem));
}

fn open(number: u128) -> OpenOperation {
    let (idempotency_key, correlation_id) = (format!("order:{number}:fulfill"), "flow".to_owned());
    OpenOperation {
        operation_id: id(number),
        idempotency_key,
        correlation_id,
    }
}

/// Access until `ends`, bought 30 days before.
fn entitlement_until(ends: i64) -> Entitlement {
    let mut entitlement = Entitlement::default();
    let grant = entitlement::Command::Grant {
        entitlement_id: id(30),
        subscription_id: id(40),
        customer_id: id(2),
        order_id: id(1),
        terms: terms(30 * DAY),
        effective_at: None,
        operation: open(1),
        at: day(ends - 30),
    };
    run(&mut entitlement, grant).expect("granted");
    entitlement
}

fn extend(entitlement: &mut Entitlement, order: u128, at: Timestamp) {
    let command = entitlement::Command::Extend {
        order_id: id(order),
        terms: terms(30 * DAY),
        effective_at: None,
        operation: open(order),
        at,
    };
    run(entitlement, command).expect("extended");
}

#[test]
fn b42_renewals_neither_lose_nor_give_days() {
    let mut live = entitlement_until(10);
    extend(&mut live, 2, day(0));
    assert_eq!(live.ends_at, Some(day(40)));

    let mut lapsed = entitlement_until(-5);
    extend(&mut lapsed, 2, day(0));
    assert_eq!(lapsed.ends_at, Some(day(30)));

    let mut twice = entitlement_until(10);
    extend(&mut twice, 2, second(0));
    extend(&mut twice, 3, second(1));
    extend(&mut twice, 3, second(2));
    assert_eq!(twice.ends_at, Some(day(70)));
}

#[test]
fn b43_an_absurd_period_is_refused_when_it_is_ordered() {
    let price = money("299.00", "RUB");
    for seconds in [3_650_000 * DAY, 0, -DAY, i64::MAX] {
        assert_eq!(
            Order::default().decide(place(price, terms(seconds))),
            Err(order::Error::InvalidItem),
            "{seconds}"
        );
    }
}

/// B40: a time without a zone is no moment, and one with a zone is the moment that it names.
#[test]
fn b40_a_time_without_a_zone_is_refused() {
    use domain::time::Timestamp;
    for naive in ["2026-03-01T12:00:00", "2026-03-01 12:00:00", "2026-03-01"] {
        assert!(serde_json::from_value::<Timestamp>(naive.into()).is_err(), "{naive}");
    }
    let read = |text: &str| serde_json::from_value::<Timestamp>(text.into()).unwrap();
    assert_eq!(read("2026-03-01T15:00:00.123+03:00"), read("2026-03-01T12:00:00.123Z"));
}
