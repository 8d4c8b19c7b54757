//! Streaks, sources, and who may close what.

use proptest::prelude::*;

use super::*;
use crate::{fixtures::at, time::Timestamp};

const STREAKS: Streaks = Streaks {
    failure: 3,
    recovery: 3,
};
const UP: Health = Health {
    database: true,
    remnawave: Some(true),
};
const PANEL_DOWN: Health = Health {
    database: true,
    remnawave: Some(false),
};

fn open(version: i64, source: Source) -> Window {
    Window {
        version,
        active: true,
        source,
    }
}

fn shut(version: i64) -> Window {
    Window {
        version,
        active: false,
        source: Source::Manual,
    }
}

/// What each of a row of samples leads to while the window stays as it is.
fn told(watch: &mut Watch, window: Window, samples: &[Health]) -> Vec<Option<Transition>> {
    samples
        .iter()
        .map(|health| {
            let (next, transition) = watch.after(*health, Some(window));
            *watch = next;
            transition
        })
        .collect()
}

#[test]
fn two_bad_samples_change_nothing_and_the_third_opens() {
    let mut watch = Watch::new(STREAKS);
    let opened = Some(Transition::Open(Source::Remnawave));
    assert_eq!(told(&mut watch, Window::NEVER, &[PANEL_DOWN; 3]), [None, None, opened]);
    // An opening that could not be written is tried again at the next sample.
    assert_eq!(told(&mut watch, Window::NEVER, &[PANEL_DOWN]), [opened]);
}

#[test]
fn a_good_sample_between_bad_ones_begins_anew() {
    let mut watch = Watch::new(STREAKS);
    let samples = [PANEL_DOWN, PANEL_DOWN, UP, PANEL_DOWN, PANEL_DOWN];
    assert_eq!(told(&mut watch, Window::NEVER, &samples), [None; 5]);
}

#[test]
fn two_good_samples_change_nothing_and_the_third_closes() {
    let mut watch = Watch::new(STREAKS);
    let window = open(1, Source::Remnawave);
    assert_eq!(
        told(&mut watch, window, &[PANEL_DOWN, UP, UP, UP]),
        [None, None, None, Some(Transition::Clear)]
    );
}

#[test]
fn a_manual_window_is_never_closed_by_itself() {
    let mut watch = Watch::new(STREAKS);
    assert_eq!(told(&mut watch, open(1, Source::Manual), &[UP; 20]), [None; 20]);
}

#[test]
fn a_window_closed_by_hand_while_still_down_opens_again_after_a_whole_streak() {
    let mut watch = Watch::new(STREAKS);
    let opened = Some(Transition::Open(Source::Remnawave));
    told(&mut watch, Window::NEVER, &[PANEL_DOWN; 3]);
    told(&mut watch, open(1, Source::Remnawave), &[PANEL_DOWN; 5]);
    assert_eq!(told(&mut watch, shut(2), &[PANEL_DOWN; 3]), [None, None, opened]);
}

#[test]
fn the_database_goes_before_the_panel() {
    for (database, remnawave, failing) in [
        (false, Some(false), Some(Source::Database)),
        (false, Some(true), Some(Source::Database)),
        (false, None, Some(Source::Database)),
        (true, Some(false), Some(Source::Remnawave)),
        (true, Some(true), None),
        (true, None, None),
    ] {
        assert_eq!(Health { database, remnawave }.failing(), failing);
    }
}

#[test]
fn a_streak_of_none_is_one_of_one() {
    let mut watch = Watch::new(Streaks {
        failure: 0,
        recovery: 0,
    });
    assert_eq!(
        told(&mut watch, Window::NEVER, &[PANEL_DOWN]),
        [Some(Transition::Open(Source::Remnawave))]
    );
    assert_eq!(
        told(&mut watch, open(1, Source::Remnawave), &[UP]),
        [Some(Transition::Clear)]
    );
}

#[test]
fn a_window_that_cannot_be_read_is_only_counted_against() {
    let down = Health {
        database: false,
        remnawave: Some(true),
    };
    let mut watch = Watch::new(STREAKS);
    for _ in 0..5 {
        let (next, transition) = watch.after(down, None);
        assert_eq!(transition, None);
        watch = next;
    }
    assert_eq!(
        watch.after(down, Some(Window::NEVER)).1,
        Some(Transition::Open(Source::Database))
    );
}

#[test]
fn an_announcement_keeps_to_its_limits() {
    let said = |reason: &str, notice: &str| Announcement::new(reason, notice, notice, None, at(0));
    let most = said(&"я".repeat(REASON_LIMIT), &"ы".repeat(NOTICE_LIMIT)).unwrap();
    assert_eq!(most.reason().chars().count(), REASON_LIMIT);
    assert_eq!(said(&"x".repeat(REASON_LIMIT + 1), ""), Err(Rejected::ReasonTooLong));
    assert_eq!(said("", &"x".repeat(NOTICE_LIMIT + 1)), Err(Rejected::NoticeTooLong));
    assert_eq!(said("a\u{1b}[2J", ""), Err(Rejected::ControlCharacter));
    assert_eq!(said("a\nb", ""), Err(Rejected::ControlCharacter));
    assert_eq!(said("", "a\u{0}b"), Err(Rejected::ControlCharacter));
    assert_eq!(said(" why ", " one\ntwo ").unwrap().notice_ru(), "one\ntwo");
    for late in [at(0), at(-1), Timestamp::MAX_UTC] {
        assert_eq!(
            Announcement::new("", "", "", Some(late), at(0)),
            Err(Rejected::ReturnNotAhead)
        );
    }
    assert!(Announcement::new("", "", "", Some(at(1)), at(0)).is_ok());
}

#[test]
fn sources_are_read_back() {
    for source in [Source::Manual, Source::Remnawave, Source::Database] {
        assert_eq!(source.as_str().parse(), Ok(source));
    }
    assert_eq!("valkey".parse::<Source>(), Err(UnknownSource));
}

proptest! {
    /// Whatever comes, what is closed was opened by the probes, and what opens was shut and has a failing source.
    #[test]
    fn transitions_fit_the_window(samples in proptest::collection::vec((any::<bool>(), any::<Option<bool>>(), any::<bool>()), 0..60)) {
        let mut watch = Watch::new(STREAKS);
        let mut window = Window::NEVER;
        for (database, remnawave, by_hand) in samples {
            if by_hand {
                window = Window { version: window.version + 1, active: !window.active, source: Source::Manual };
            }
            let (next, transition) = watch.after(Health { database, remnawave }, Some(window));
            watch = next;
            match transition {
                Some(Transition::Open(source)) => {
                    prop_assert!(!window.active);
                    prop_assert_eq!(Some(source), Health { database, remnawave }.failing());
                    window = open(window.version + 1, source);
                }
                Some(Transition::Clear) => {
                    prop_assert!(window.active && window.source != Source::Manual);
                    window = Window { version: window.version + 1, active: false, ..window };
                }
                None => {}
            }
        }
    }
}
