use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::SandboxError;

fn sending() -> impl Strategy<Value = (bool, Kind, String, i64)> {
    let kind = prop_oneof![Just(Kind::Stars), Just(Kind::Premium)];
    (any::<bool>(), kind, "[abAB]{1,2}", 1_i64..1_000)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// The oracle counts what was delivered, by recipient without regard to case, over restarts; refusals count apart.
    #[test]
    fn the_report_is_the_sum_of_the_journal(sendings in proptest::collection::vec(sending(), 0..40), reopen_at in 0_usize..40) {
        let dir = tempfile::tempdir().expect("a directory");
        let path = journal::path(dir.path(), "goods");
        let mut ledger = Ledger::open(&path, state::State::default()).expect("opens");
        let mut delivered: BTreeMap<String, (u64, i64)> = BTreeMap::new();
        let mut rejected = 0_u64;
        for (number, (accepted, kind, username, quantity)) in sendings.iter().enumerate() {
            if number == reopen_at {
                drop(ledger);
                ledger = Ledger::open(&path, state::State::default()).expect("opens again");
            }
            let at = "2026-11-29T12:00:00Z".parse().expect("a time");
            let given = ledger.change(
                at,
                |state| {
                    let (id, username) = (state.next_id(), username.clone());
                    let sending = Sending { id, kind: *kind, username, quantity: *quantity, user_id: None };
                    Ok::<_, SandboxError>(Some(if *accepted { Effect::Delivered { sending } } else { Effect::Rejected { sending } }))
                },
                |state| Ok(state.next_id()),
            );
            prop_assert_eq!(given.ok(), u64::try_from(number).ok().map(|number| number + 2), "ids grow by one");
            if *accepted {
                let one = delivered.entry(username.to_ascii_lowercase()).or_default();
                *one = (one.0 + 1, one.1 + quantity);
            } else {
                rejected += 1;
            }
        }
        let report = report::of_journal(&path).expect("a journal");
        prop_assert_eq!(report.rejected, rejected);
        prop_assert_eq!(report.accepted, delivered.values().map(|one| one.0).sum::<u64>());
        prop_assert_eq!(report.duplicates, delivered.values().map(|one| one.0 - 1).sum::<u64>());
        let summed: BTreeMap<String, (u64, i64)> =
            report.by_recipient.iter().map(|(name, one)| (name.clone(), (one.submissions, one.stars + one.premium_months))).collect();
        prop_assert_eq!(summed, delivered);
    }
}
