//! Time that is not counted.

use super::{
    changes::{after, asked, end, planned, refused, shown},
    *,
};
use crate::entitlement::{Access, Asked};

#[test]
fn a_pause_gives_and_takes_nothing() {
    // Paused for seven days in the middle; then bought once more during a second pause.
    let mut state = after([asked(70, Asked::Pause, 10 * DAY), asked(71, Asked::Resume, 17 * DAY)]);
    assert_eq!((state.ends_at, state.paused_seconds), (Some(at(37 * DAY)), 7 * DAY));
    assert_eq!((shown(&state, 17 * DAY).access, state.paused_at), (Access::Open, None));
    for command in [
        asked(72, Asked::Pause, 20 * DAY),
        extend(2, terms(30, 3), 50 * DAY),
        asked(73, Asked::Resume, 60 * DAY),
    ] {
        for event in state.decide(command).expect("accepted") {
            state.evolve(event);
        }
    }
    // 17 days were left at the pause, 30 were bought: 47 days from the end of the pause on.
    assert_eq!(state.ends_at, Some(at(107 * DAY)));
    assert_eq!(state.paused_seconds, 47 * DAY);
}

#[test]
fn the_vectors_of_the_specification_hold_for_pauses() {
    // T is day 40; paused ten days before, three days after T−3d's end would have come: seven days are preserved.
    let paused = after([asked(69, end(37 * DAY), DAY), asked(70, Asked::Pause, 30 * DAY)]);
    let ends = |state: &Entitlement, command| {
        let mut state = state.clone();
        for event in state.decide(command).expect("accepted") {
            state.evolve(event);
        }
        state
    };
    let resumed = ends(&paused, asked(71, Asked::Resume, 40 * DAY));
    assert_eq!(resumed.ends_at, Some(at(47 * DAY)), "resume alone ends T+7d");
    let bought = ends(&paused, extend(2, terms(30, 3), 40 * DAY));
    assert_eq!(bought.access(), Access::Paused, "what was bought waits with the rest");
    let both = ends(&bought, asked(71, Asked::Resume, 40 * DAY));
    assert_eq!(both.ends_at, Some(at(77 * DAY)), "the extension ends T+37d");
    assert_eq!(
        shown(&both, 40 * DAY).expire_at,
        at(80 * DAY),
        "remote expiry is end plus grace in every case"
    );
}

#[test]
fn only_what_runs_is_paused_and_only_what_is_paused_resumed() {
    let live = folded(live_and([]));
    refused(&live, asked(70, Asked::Resume, DAY), Error::NotPausable);
    refused(&live, asked(70, Asked::Pause, 33 * DAY), Error::NotPausable);
    assert!(
        live.decide(asked(70, Asked::Pause, 32 * DAY)).is_ok(),
        "grace is access, too"
    );
    let paused = after([asked(70, Asked::Pause, DAY)]);
    refused(&paused, asked(71, Asked::Pause, 2 * DAY), Error::NotPausable);
    refused(&paused, asked(71, Asked::Enable, 2 * DAY), Error::Paused);
    let locked = after([asked(70, Asked::Disable, DAY)]);
    refused(&locked, asked(71, Asked::Pause, 2 * DAY), Error::NotPausable);
    for wish in [Asked::Pause, Asked::Resume] {
        refused(&live, planned(70, wish, Some(9 * DAY), DAY), Error::NotPlannable);
    }
    let first = folded(Entitlement::default().decide(grant(Some(20 * DAY))).expect("accepted"));
    refused(&first, asked(70, Asked::Pause, DAY), Error::NotPausable);
}

#[test]
fn a_lock_outlasts_a_pause_and_a_clock_that_goes_back_costs_nothing() {
    let state = after([
        asked(70, Asked::Pause, 10 * DAY),
        asked(71, Asked::Disable, 11 * DAY),
        asked(72, Asked::Resume, 9 * DAY),
    ]);
    assert_eq!((state.ends_at, state.access()), (Some(at(30 * DAY)), Access::Disabled));
}
