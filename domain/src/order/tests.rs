//! Given events, when a command, then events or a refusal: the state table of an order.

mod payments;

use cqrs_es::test::TestFramework;

use super::{Classification, Command, Error, Event, Item, Operation, Order};
use crate::{
    aggregate::{Decide as _, Rejection as _},
    fixtures::{DAY, at, currency, id, roubles, stars, terms},
    log::Metadata,
    money::{MAX_MINOR, Money},
    topics::{Bought, Message},
};

const HOUR: i64 = 3600;

fn plan() -> Item {
    Item::Plan {
        operation: Operation::Purchase,
        entitlement_id: id(30),
        subscription_id: id(40),
        terms: terms(30, 3),
    }
}

fn goods() -> Item {
    Item::Goods { product: stars() }
}

fn place(item: Item, subtotal_minor: i64, discount_minor: i64, wallet_minor: i64) -> Command {
    Command::Place {
        order_id: id(1),
        customer_id: id(2),
        item,
        currency: currency("RUB"),
        subtotal_minor,
        discount_minor,
        wallet_minor,
        expires_at: at(HOUR),
        at: at(0),
    }
}

fn placed(item: Item, subtotal_minor: i64, wallet_minor: i64) -> Event {
    Event::Placed {
        order_id: id(1),
        customer_id: id(2),
        item,
        currency: currency("RUB"),
        subtotal_minor,
        discount_minor: 0,
        wallet_minor,
        external_minor: subtotal_minor - wallet_minor,
        expires_at: at(HOUR),
        at: at(0),
    }
}

fn intent(number: u128, provider: &str) -> Event {
    Event::IntentOpened {
        intent_id: id(number),
        provider: provider.to_owned(),
        amount: roubles(49_900),
        at: at(60),
    }
}

fn open(number: u128, provider: &str, window: Option<i64>, second: i64) -> Command {
    let window_until = window.map(at);
    Command::OpenIntent {
        intent_id: id(number),
        provider: provider.to_owned(),
        window_until,
        at: at(second),
    }
}

fn observe(event_id: &str, amount: Money, second: i64) -> Command {
    Command::ObservePayment {
        intent_id: id(50),
        provider: "cryptobot".to_owned(),
        provider_event_id: event_id.to_owned(),
        amount,
        at: at(second),
    }
}

fn observed(event_id: &str, amount: Money, classification: Classification, second: i64) -> Event {
    Event::PaymentObserved {
        intent_id: id(50),
        provider: "cryptobot".to_owned(),
        provider_event_id: event_id.to_owned(),
        amount,
        classification,
        at: at(second),
    }
}

fn paid(classification: Classification, second: i64) -> Event {
    Event::Paid {
        intent_id: Some(id(50)),
        paid_minor: 49_900,
        classification,
        at: at(second),
    }
}

/// An order of 499 roubles with one open intent, and what happened to it then.
fn pending_and(more: impl IntoIterator<Item = Event>) -> Vec<Event> {
    [placed(plan(), 49_900, 0), intent(50, "cryptobot")]
        .into_iter()
        .chain(more)
        .collect()
}

fn check(given: Vec<Event>, when: Command, then: Result<Vec<Event>, Error>) {
    let ran = TestFramework::<Order>::with(()).given(given).when(when);
    match then {
        Ok(events) => ran.then_expect_events(events),
        Err(refusal) => ran.then_expect_error(refusal),
    }
}

#[test]
fn placing_waits_for_the_external_part() {
    check(vec![], place(plan(), 49_900, 0, 0), Ok(vec![placed(plan(), 49_900, 0)]));
    check(
        vec![],
        place(plan(), 49_900, 0, 40_000),
        Ok(vec![placed(plan(), 49_900, 40_000)]),
    );
}

#[test]
fn an_order_without_an_external_part_is_born_paid() {
    let covered = Event::Paid {
        intent_id: None,
        paid_minor: 4_900,
        classification: Classification::Paid,
        at: at(0),
    };
    check(
        vec![],
        place(plan(), 4_900, 0, 4_900),
        Ok(vec![placed(plan(), 4_900, 4_900), covered]),
    );
    let events = Order::default().decide(place(goods(), 700, 700, 0)).expect("accepted");
    assert!(matches!(
        events.as_slice(),
        [
            Event::Placed { external_minor: 0, .. },
            Event::Paid { paid_minor: 0, .. }
        ]
    ));
}

#[test]
fn placing_again_is_the_same_order_or_refused() {
    let given = || vec![placed(plan(), 49_900, 0)];
    check(given(), place(plan(), 49_900, 0, 0), Ok(vec![]));
    check(
        pending_and([paid(Classification::Paid, 90)]),
        place(plan(), 49_900, 0, 0),
        Ok(vec![]),
    );
    check(given(), place(plan(), 49_901, 0, 0), Err(Error::AlreadyPlaced));
    check(given(), place(plan(), 49_901, 1, 0), Err(Error::AlreadyPlaced));
    check(given(), place(plan(), 49_900, 0, 1), Err(Error::AlreadyPlaced));
    check(given(), place(plan(), 49_900, 1, 0), Err(Error::AlreadyPlaced));
    check(given(), place(goods(), 49_900, 0, 0), Err(Error::AlreadyPlaced));
}

#[test]
fn amounts_that_do_not_add_up_are_refused() {
    let wrong = [
        (-1, 0, 0),
        (100, 101, 0),
        (100, -1, 0),
        (100, 0, 101),
        (100, 60, 41),
        (100, 0, -1),
        (MAX_MINOR + 1, 0, 0),
        (100, i64::MIN, i64::MAX),
    ];
    for (subtotal, discount, wallet) in wrong {
        check(
            vec![],
            place(plan(), subtotal, discount, wallet),
            Err(Error::InvalidAmounts),
        );
    }
}

#[test]
fn money_is_not_taken_for_what_cannot_be_provided() {
    let mut endless = terms(30, 0);
    endless.duration_seconds = i64::MAX;
    let item = Item::Plan {
        operation: Operation::Extension,
        entitlement_id: id(30),
        subscription_id: id(40),
        terms: endless,
    };
    check(vec![], place(item, 100, 0, 0), Err(Error::InvalidItem));
    let mut few = stars();
    few.kind = crate::goods::Kind::TelegramStars { quantity: 49 };
    check(
        vec![],
        place(Item::Goods { product: few }, 100, 0, 0),
        Err(Error::InvalidItem),
    );
}

#[test]
fn only_an_open_order_in_its_window_takes_an_intent() {
    let given = || vec![placed(plan(), 49_900, 0)];
    check(
        given(),
        open(50, "cryptobot", None, 60),
        Ok(vec![intent(50, "cryptobot")]),
    );
    check(given(), open(50, "cryptobot", None, HOUR), Err(Error::NotPayable));
    check(vec![], open(50, "cryptobot", None, 60), Err(Error::NotFound));
    for end in [
        Event::Cancelled { at: at(70) },
        Event::Expired { at: at(HOUR) },
        paid(Classification::Paid, 70),
    ] {
        check(
            pending_and([end]),
            open(51, "cryptobot", None, 60),
            Err(Error::NotPayable),
        );
    }
    let free = vec![placed(plan(), 4_900, 4_900), paid(Classification::Paid, 0)];
    check(free, open(50, "cryptobot", None, 60), Err(Error::PaymentNotRequired));
}

#[test]
fn an_intent_of_the_same_id_is_a_repeat_or_refused() {
    check(pending_and([]), open(50, "cryptobot", None, 61), Ok(vec![]));
    check(
        pending_and([paid(Classification::Paid, 90)]),
        open(50, "cryptobot", None, 99),
        Ok(vec![]),
    );
    check(
        pending_and([]),
        open(50, "manual", None, 61),
        Err(Error::IntentConflict),
    );
}

#[test]
fn a_window_only_grows_and_never_for_goods() {
    let longer = Event::WindowExtended {
        expires_at: at(72 * HOUR),
        at: at(60),
    };
    check(
        vec![placed(plan(), 49_900, 0)],
        open(50, "manual", Some(72 * HOUR), 60),
        Ok(vec![intent(50, "manual"), longer]),
    );
    check(
        vec![placed(plan(), 49_900, 0)],
        open(50, "manual", Some(HOUR), 60),
        Ok(vec![intent(50, "manual")]),
    );
    check(
        vec![placed(goods(), 49_900, 0)],
        open(50, "manual", Some(72 * HOUR), 60),
        Ok(vec![intent(50, "manual")]),
    );
}

#[test]
fn ends_follow_the_table() {
    let cancel = || Command::Cancel { at: at(HOUR) };
    let expire = |second| Command::Expire { at: at(second) };
    let fulfil = || Command::MarkFulfilled { at: at(HOUR) };
    let (cancelled, expired, fulfilled) = (
        Event::Cancelled { at: at(HOUR) },
        Event::Expired { at: at(HOUR) },
        Event::Fulfilled { at: at(HOUR) },
    );
    let settled = || paid(Classification::Paid, 90);

    check(pending_and([]), cancel(), Ok(vec![cancelled.clone()]));
    check(pending_and([]), expire(HOUR - 1), Ok(vec![]));
    check(pending_and([]), expire(HOUR), Ok(vec![expired.clone()]));
    check(pending_and([]), fulfil(), Err(Error::NotPaid));

    check(pending_and([settled()]), cancel(), Err(Error::NotCancellable));
    check(pending_and([settled()]), expire(DAY), Ok(vec![]));
    check(pending_and([settled()]), fulfil(), Ok(vec![fulfilled.clone()]));

    check(
        pending_and([settled(), fulfilled.clone()]),
        cancel(),
        Err(Error::NotCancellable),
    );
    check(pending_and([settled(), fulfilled.clone()]), expire(DAY), Ok(vec![]));
    check(pending_and([settled(), fulfilled]), fulfil(), Ok(vec![]));

    check(pending_and([cancelled.clone()]), cancel(), Ok(vec![]));
    check(pending_and([cancelled.clone()]), expire(DAY), Ok(vec![]));
    check(pending_and([cancelled]), fulfil(), Err(Error::NotPaid));

    check(pending_and([expired.clone()]), cancel(), Err(Error::NotCancellable));
    check(pending_and([expired.clone()]), expire(DAY), Ok(vec![]));
    check(pending_and([expired]), fulfil(), Err(Error::NotPaid));

    for command in [cancel(), expire(DAY), fulfil()] {
        check(vec![], command, Err(Error::NotFound));
    }
}

fn folded(events: Vec<Event>) -> Order {
    let mut order = Order::default();
    for event in events {
        order.evolve(event);
    }
    order
}

#[test]
fn a_settled_order_announces_what_it_grants() {
    let settled = paid(Classification::Paid, 90);
    for (item, entitlement_id) in [(plan(), Some(id(30))), (goods(), None)] {
        let order = folded(vec![placed(item, 49_900, 0), settled.clone()]);
        let announced = order.announce(&settled, "order:1:2", &Metadata::default());
        let [Message::OrderPaid(message)] = announced.as_slice() else {
            panic!("one message: {announced:?}")
        };
        assert_eq!(
            (message.order_id, message.entitlement_id, message.occurred_at),
            (id(1), entitlement_id, at(90))
        );
        assert_eq!(message.event_id, "order:1:2");
        let keys = serde_json::to_value(message)
            .expect("serialises")
            .as_object()
            .map_or(0, serde_json::Map::len);
        assert_eq!(keys, 6 + usize::from(entitlement_id.is_some()));
        let operation = entitlement_id.map_or(Bought::Goods, |_| Bought::Purchase);
        assert_eq!((message.operation, message.currency), (Some(operation), order.currency));
        assert_eq!(message.amount_minor, Some(order.paid_minor));
    }
    let quiet = placed(plan(), 49_900, 0);
    assert!(
        folded(vec![quiet.clone()])
            .announce(&quiet, "order:1:1", &Metadata::default())
            .is_empty()
    );
}

#[test]
fn times_are_cut_to_what_storage_keeps() {
    let fine = at(0) + chrono::TimeDelta::nanoseconds(1_234);
    let order = folded(vec![placed(plan(), 49_900, 0)]);
    let cut = at(0) + chrono::TimeDelta::microseconds(1);
    assert_eq!(
        order.decide(Command::Cancel { at: fine }),
        Ok(vec![Event::Cancelled { at: cut }])
    );
}

#[test]
fn refusals_have_stable_codes() {
    let codes = [
        (Error::NotFound, "order_not_found"),
        (Error::InvalidAmounts, "order_rejected"),
        (Error::InvalidItem, "order_rejected"),
        (Error::AlreadyPlaced, "order_rejected"),
        (Error::PaymentNotRequired, "payment_not_required"),
        (Error::NotPayable, "order_not_payable"),
        (Error::IntentConflict, "payment_rejected"),
        (Error::InvalidPayment, "payment_rejected"),
        (Error::UnknownIntent, "payment_not_found"),
        (Error::NotCancellable, "order_cancellation_rejected"),
        (Error::NotPaid, "order_not_paid"),
    ];
    for (refusal, code) in codes {
        assert_eq!(refusal.code(), code);
    }
}
