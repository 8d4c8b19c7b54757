//! The schedule's vectors, and its behaviour at numbers that nobody expects.

use std::time::Duration;

use proptest::prelude::*;

use super::*;

#[test]
fn the_schedule_doubles_and_then_stays() {
    let seconds: Vec<u64> = (1..=9).map(|attempt| retry_delay(attempt).as_secs()).collect();
    assert_eq!(seconds, [10, 20, 40, 80, 160, 320, 640, 1280, 1280]);
}

#[test]
fn b68_the_schedule_is_total_and_monotone() {
    for attempt in [0, 1, 8, 9, 64, 310, 32_767, -1, i32::MIN, i32::MAX] {
        assert!(retry_delay(attempt) <= Duration::from_secs(1280), "{attempt}");
        assert!(retry_delay(attempt) >= Duration::from_secs(5), "{attempt}");
        assert!(
            retry_delay(attempt) <= retry_delay(attempt.saturating_add(1)),
            "{attempt}"
        );
    }
    assert_eq!(retry_delay(9), retry_delay(32_767));
    assert_eq!(retry_delay(-1), retry_delay(0));
}

#[test]
fn twelve_failures_end_an_operation_and_operators_hear_of_the_third() {
    for failures in 1..MAX_FAILURES {
        let expected = Next::Retry {
            delay: retry_delay(failures),
            counted: true,
            notice: failures >= 3,
        };
        assert_eq!(after_failure(FailureClass::Passing, failures), expected);
    }
    assert_eq!(after_failure(FailureClass::Passing, MAX_FAILURES), Next::GiveUp);
    assert_eq!(after_failure(FailureClass::Permanent, 1), Next::GiveUp);
}

#[test]
fn a_rate_limit_costs_nothing_and_is_bounded() {
    let wait = |seconds: Option<u64>| {
        let class = FailureClass::RateLimited {
            retry_after: seconds.map(Duration::from_secs),
        };
        let Next::Retry {
            delay,
            counted: false,
            notice: false,
        } = after_failure(class, MAX_FAILURES)
        else {
            panic!("a rate limit is a reason to wait");
        };
        delay.as_secs()
    };
    assert_eq!(
        (wait(None), wait(Some(0)), wait(Some(45)), wait(Some(u64::MAX))),
        (10, 10, 45, 1280)
    );
}

proptest! {
    #[test]
    fn b68_any_number_has_a_delay(attempt in any::<i32>()) {
        prop_assert!((5..=1280).contains(&retry_delay(attempt).as_secs()));
    }
}
