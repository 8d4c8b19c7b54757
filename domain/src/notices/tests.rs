use std::{collections::BTreeMap, time::Duration};

use proptest::prelude::*;

use super::*;

const FRESH: Duration = Duration::from_secs(1);

fn of(kind: Kind) -> Candidate {
    Candidate {
        kind,
        age: FRESH,
        unanswered: 0,
    }
}

fn none_sent() -> BTreeMap<Kind, u32> {
    BTreeMap::new()
}

#[test]
fn every_kind_is_read_back_as_it_is_written() {
    for kind in Kind::ALL {
        assert_eq!(kind.as_str().parse(), Ok(kind));
        assert_eq!(serde_json::to_value(kind).expect("a word"), kind.as_str());
    }
    assert_eq!("Purchase".parse::<Kind>(), Err(UnknownKind));
}

#[test]
fn the_thirty_first_of_a_kind_is_suppressed_and_another_kind_is_not() {
    let mut candidates = vec![of(Kind::Purchase); 32];
    candidates.push(of(Kind::Incident));
    let verdicts = admit(&candidates, &none_sent(), Cap::default(), 100);
    assert!(verdicts[..30].iter().all(|verdict| *verdict == Verdict::Send));
    assert_eq!(verdicts[30..32], [Verdict::Suppress(VOLUME_CAP); 2]);
    assert_eq!(verdicts[32], Verdict::Send);
}

#[test]
fn what_was_sent_before_counts_and_zero_is_no_cap() {
    let sent = BTreeMap::from([(Kind::Purchase, 30)]);
    let one = [of(Kind::Purchase)];
    assert_eq!(admit(&one, &sent, Cap::default(), 9), [Verdict::Suppress(VOLUME_CAP)]);
    let open = Cap {
        most: None,
        ..Cap::default()
    };
    assert_eq!(admit(&one, &sent, open, 9), [Verdict::Send]);
}

#[test]
fn age_and_unanswered_requests_end_a_notice() {
    let old = Candidate {
        age: LONGEST_WAIT + Duration::from_secs(1),
        ..of(Kind::Incident)
    };
    let asked_twice = Candidate {
        unanswered: MAX_UNANSWERED,
        ..of(Kind::Incident)
    };
    let asked_once = Candidate {
        unanswered: 1,
        age: LONGEST_WAIT,
        ..of(Kind::Incident)
    };
    let verdicts = admit(&[old, asked_twice, asked_once], &none_sent(), Cap::default(), 9);
    assert_eq!(
        verdicts,
        [
            Verdict::Suppress(TOO_OLD),
            Verdict::Fail(OUTCOME_UNKNOWN),
            Verdict::Send
        ]
    );
}

fn candidate() -> impl Strategy<Value = Candidate> {
    (0_usize..3, 0_u64..100_000, 0_i32..4).prop_map(|(kind, age, unanswered)| Candidate {
        kind: Kind::ALL[kind],
        age: Duration::from_secs(age),
        unanswered,
    })
}

proptest! {
    /// Never more than the budget, never more of a kind than its cap; a verdict for each; nothing waits while there is budget.
    #[test]
    fn admission_keeps_its_bounds(
        candidates in proptest::collection::vec(candidate(), 0..80), budget in 0_u32..60, most in proptest::option::of(0_u32..40),
        before in 0_u32..40,
    ) {
        let sent = BTreeMap::from([(Kind::Purchase, before)]);
        let cap = Cap { most, ..Cap::default() };
        let verdicts = admit(&candidates, &sent, cap, budget);
        prop_assert_eq!(verdicts.len(), candidates.len());
        let sending = verdicts.iter().filter(|verdict| **verdict == Verdict::Send).count();
        prop_assert!(sending <= usize::try_from(budget).unwrap_or(usize::MAX));
        if verdicts.contains(&Verdict::Wait) {
            prop_assert_eq!(sending, usize::try_from(budget).unwrap_or(usize::MAX));
        }
        for kind in Kind::ALL {
            let of_kind = candidates.iter().zip(&verdicts).filter(|(one, verdict)| one.kind == kind && **verdict == Verdict::Send).count();
            let before = sent.get(&kind).copied().unwrap_or(0);
            if let Some(most) = most {
                prop_assert!(of_kind <= usize::try_from(most.saturating_sub(before)).unwrap_or(0));
            }
        }
    }

    #[test]
    fn any_number_has_a_pause(count in any::<i32>()) {
        prop_assert!((Duration::from_secs(10)..=Duration::from_mins(30)).contains(&retry_delay(count)));
        prop_assert!((Duration::from_secs(10)..=Duration::from_mins(10)).contains(&pause(count)));
        prop_assert!(retry_delay(count) <= retry_delay(count.saturating_add(1)));
    }
}
