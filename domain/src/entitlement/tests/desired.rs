//! What the panel must show at a moment, and under which name.

use std::collections::BTreeSet;

use uuid::Uuid;

use super::*;
use crate::{
    entitlement::{remote_description, remote_username},
    ids::SubscriptionId,
};

/// An extension that is not to be shown before `due`.
fn later(order: u128, ends: i64, version: i64, due: i64) -> Event {
    let mut event = extended(order, ends, version, DAY);
    if let Event::Extended { effective_at, .. } = &mut event {
        *effective_at = Some(at(due));
    }
    event
}

#[test]
fn the_end_shown_is_the_paid_end_plus_grace() {
    let desired = folded(live_and([])).desired_at(at(0)).expect("due");
    assert_eq!((desired.version, desired.expire_at), (1, at(33 * DAY)));
    assert_eq!(desired.limits, terms(30, 3).limits);
    assert_eq!((desired.reset_traffic, desired.opens), (None, true));
    assert_eq!(Entitlement::default().desired_at(at(0)), None);
}

#[test]
fn a_change_is_not_shown_before_its_time() {
    let entitlement = folded(live_and([later(2, 60 * DAY, 2, 20 * DAY)]));
    let versions = |second| entitlement.desired_at(at(second)).map(|desired| desired.version);
    assert_eq!((versions(20 * DAY - 1), versions(20 * DAY)), (Some(1), Some(2)));
    let first = folded(Entitlement::default().decide(grant(Some(20 * DAY))).expect("accepted"));
    assert_eq!(first.desired_at(at(20 * DAY - 1)), None);
}

#[test]
fn the_newest_due_change_wins_over_older_ones_that_become_due_later() {
    let entitlement = folded(live_and([
        later(2, 60 * DAY, 2, 20 * DAY),
        extended(3, 90 * DAY, 3, 2 * DAY),
    ]));
    for second in [3 * DAY, 20 * DAY] {
        let desired = entitlement.desired_at(at(second)).expect("due");
        assert_eq!((desired.version, desired.expire_at), (3, at(93 * DAY)));
    }
}

#[test]
fn traffic_starts_anew_once_for_every_extension_not_shown_yet() {
    let resets = |events| {
        folded(events)
            .desired_at(at(5 * DAY))
            .is_some_and(|desired| desired.reset_traffic.is_some())
    };
    assert!(resets(extended_and([])));
    assert!(resets(extended_and([applied(1, 10)])));
    assert!(!resets(extended_and([applied(1, 10), applied(2, 2 * DAY)])));
    assert!(resets(extended_and([
        applied(2, 2 * DAY),
        extended(3, 90 * DAY, 3, 3 * DAY)
    ])));
}

#[test]
fn b35_a_remote_username_is_legal_unique_and_made_of_ids_only() {
    let mut names = BTreeSet::new();
    // Ids as they are made: one after another within a few milliseconds, so that their first halves are equal.
    for number in 0..10_000_u128 {
        let subscription = SubscriptionId::new(Uuid::from_u128((0x0190_5c3a_7e00_7000_8000 << 48) | number));
        let name = remote_username(subscription);
        let legal = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
        assert!((3..=36).contains(&name.len()) && name.bytes().all(legal), "{name}");
        assert_eq!(name, remote_username(subscription));
        assert!(names.insert(name));
    }
}

/// A changed name would make a second remote user for every subscription that is sold.
#[test]
fn b35_names_never_change_between_versions() {
    let subscription = SubscriptionId::new(Uuid::from_u128(0x0190_5c3a_7e00_7000_8000_0000_0000_0001));
    assert_eq!(remote_username(subscription), "omniflow_218fb9a71be92b568f06");
    assert_eq!(
        remote_description(subscription),
        "omniflow:01905c3a-7e00-7000-8000-000000000001"
    );
}
