//! What a payment means for its order.

use cqrs_es::test::TestFramework;

use super::*;
use crate::fixtures::DAY;

#[test]
fn an_exact_payment_settles_and_says_how_late_it_was() {
    use Classification::{Late, Paid, PaidAfterCancellation};
    let cases = [
        (None, HOUR - 1, Paid),
        (None, HOUR, Late),
        (Some(Event::Expired { at: at(HOUR) }), HOUR + 1, Late),
        (Some(Event::Cancelled { at: at(70) }), 90, PaidAfterCancellation),
        (Some(Event::Cancelled { at: at(70) }), DAY, PaidAfterCancellation),
    ];
    for (end, second, class) in cases {
        let then = vec![observed("e1", roubles(49_900), class, second), paid(class, second)];
        check(pending_and(end), observe("e1", roubles(49_900), second), Ok(then));
    }
}

#[test]
fn any_other_amount_stays_visible_and_settles_nothing() {
    let dollars = Money::new(49_900, currency("USD")).expect("in range");
    let ends = [
        None,
        Some(Event::Cancelled { at: at(70) }),
        Some(Event::Expired { at: at(HOUR) }),
    ];
    for end in ends {
        for (amount, class) in [
            (roubles(49_899), Classification::Underpayment),
            (roubles(1), Classification::Underpayment),
            (roubles(49_901), Classification::Overpayment),
            (dollars, Classification::CurrencyMismatch),
        ] {
            check(
                pending_and(end.clone()),
                observe("e1", amount, 90),
                Ok(vec![observed("e1", amount, class, 90)]),
            );
        }
    }
}

#[test]
fn after_settlement_every_payment_is_a_duplicate_except_of_another_currency() {
    let dollars = Money::new(49_900, currency("USD")).expect("in range");
    for more in [vec![], vec![Event::Fulfilled { at: at(95) }]] {
        let given: Vec<Event> = pending_and([paid(Classification::Paid, 90)])
            .into_iter()
            .chain(more)
            .collect();
        for amount in [roubles(49_900), roubles(1), roubles(90_000)] {
            let then = vec![observed("e2", amount, Classification::Duplicate, 100)];
            check(given.clone(), observe("e2", amount, 100), Ok(then));
        }
        let then = vec![observed("e2", dollars, Classification::CurrencyMismatch, 100)];
        check(given, observe("e2", dollars, 100), Ok(then));
    }
}

#[test]
fn a_payment_is_known_by_intent_and_event_id() {
    let short = observed("e1", roubles(100), Classification::Underpayment, 90);
    check(
        pending_and([short.clone()]),
        observe("e1", roubles(100), 95),
        Ok(vec![]),
    );
    let then = vec![
        observed("e2", roubles(49_900), Classification::Paid, 96),
        paid(Classification::Paid, 96),
    ];
    check(pending_and([short]), observe("e2", roubles(49_900), 96), Ok(then));
}

#[test]
fn a_payment_for_another_orders_intent_is_refused() {
    check(
        vec![placed(plan(), 49_900, 0)],
        observe("e1", roubles(49_900), 90),
        Err(Error::UnknownIntent),
    );
    let other = vec![placed(plan(), 49_900, 0), intent(50, "manual")];
    check(other, observe("e1", roubles(49_900), 90), Err(Error::UnknownIntent));
    check(vec![], observe("e1", roubles(49_900), 90), Err(Error::NotFound));
}

#[test]
fn the_wallet_part_counts_as_paid_with_the_external_one() {
    let given = vec![placed(plan(), 89_900, 40_000), intent(50, "cryptobot")];
    let events = TestFramework::<Order>::with(())
        .given(given)
        .when(observe("e1", roubles(49_900), 90))
        .inspect_result();
    assert!(matches!(
        events.as_deref(),
        Ok([_, Event::Paid { paid_minor: 89_900, .. }])
    ));
}

#[test]
fn a_payment_of_nothing_is_refused() {
    for minor in [0, -1, -49_900] {
        check(
            pending_and([]),
            observe("e1", roubles(minor), 90),
            Err(Error::InvalidPayment),
        );
        let settled = pending_and([paid(Classification::Paid, 90)]);
        check(settled, observe("e1", roubles(minor), 95), Err(Error::InvalidPayment));
    }
}
