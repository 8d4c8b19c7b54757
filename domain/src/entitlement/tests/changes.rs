//! What operators ask for: at once, planned, repeated, and beside purchases.

use uuid::Uuid;

use super::*;
use crate::{
    entitlement::{Access, Asked, DesiredState, Limit, MAX_SQUADS, Outcome},
    plan::Limits,
};

pub(super) fn asked(number: u128, asked: Asked, second: i64) -> Command {
    planned(number, asked, None, second)
}

pub(super) fn planned(number: u128, asked: Asked, effective: Option<i64>, second: i64) -> Command {
    Command::Change {
        asked,
        effective_at: effective.map(at),
        operation: open(number),
        at: at(second),
    }
}

fn limits(traffic: Option<Limit<i64>>, devices: Option<Limit<i32>>) -> Asked {
    Asked::Limits {
        traffic_bytes: traffic,
        devices,
    }
}

pub(super) fn end(second: i64) -> Asked {
    Asked::EndsAt { ends_at: at(second) }
}

fn squads(numbers: impl IntoIterator<Item = u128>) -> Asked {
    Asked::Squads {
        squads: numbers.into_iter().map(Uuid::from_u128).collect(),
    }
}

/// Every command is accepted and has an effect.
#[track_caller]
pub(super) fn after(commands: impl IntoIterator<Item = Command>) -> Entitlement {
    let mut state = folded(live_and([]));
    for command in commands {
        let events = state.decide(command.clone()).expect("accepted");
        assert!(!events.is_empty(), "{command:?} has no effect");
        for event in events {
            state.evolve(event);
        }
    }
    state
}

pub(super) fn shown(state: &Entitlement, second: i64) -> DesiredState {
    state.desired_at(at(second)).expect("due")
}

#[track_caller]
pub(super) fn refused(state: &Entitlement, command: Command, error: Error) {
    assert_eq!(state.decide(command), Err(error));
}

#[test]
fn a_change_is_the_entitlements_event_and_then_its_operation() {
    let moved = Event::EndMoved {
        operation_id: id(70),
        ends_at: at(40 * DAY),
        version: 2,
        at: at(DAY),
    };
    check(
        live_and([]),
        asked(70, end(40 * DAY), DAY),
        Ok(vec![moved, opened(70, OperationKind::Extend, 2, None, DAY)]),
    );
    let events = folded(live_and([]))
        .decide(asked(70, limits(None, Some(Limit::Unlimited)), DAY))
        .expect("accepted");
    let changed = Event::LimitsChanged {
        operation_id: id(70),
        traffic_bytes: Some(107_374_182_400),
        devices: None,
        version: 2,
        at: at(DAY),
    };
    assert_eq!(
        events,
        vec![changed, opened(70, OperationKind::SetLimits, 2, None, DAY)]
    );
    for (wish, kind) in [
        (squads([9, 8, 9]), OperationKind::SetSquads),
        (Asked::Enable, OperationKind::Enable),
        (Asked::Disable, OperationKind::Disable),
        (Asked::ResetTraffic, OperationKind::ResetTraffic),
        (Asked::Pause, OperationKind::Disable),
    ] {
        let events = folded(live_and([])).decide(asked(70, wish, DAY)).expect("accepted");
        assert_eq!(events.last(), Some(&opened(70, kind, 2, None, DAY)));
    }
}

#[test]
fn each_change_is_in_the_desired_state_and_leaves_the_rest() {
    let state = after([
        asked(70, limits(Some(Limit::AtMost(5)), None), DAY),
        asked(71, squads([9, 8, 9]), DAY),
        asked(72, end(40 * DAY), DAY),
        asked(73, Asked::Disable, DAY),
    ]);
    let desired = shown(&state, DAY);
    let expected = Limits {
        traffic_bytes: Some(5),
        devices: Some(3),
        squads: vec![Uuid::from_u128(8), Uuid::from_u128(9)],
    };
    assert_eq!((desired.version, desired.expire_at), (5, at(43 * DAY)));
    assert_eq!((desired.limits, desired.access), (expected, Access::Disabled));
    assert_eq!(state.ends_at, Some(at(40 * DAY)));
    let state = after([asked(70, Asked::Disable, DAY), asked(71, Asked::Enable, DAY)]);
    assert_eq!(
        (shown(&state, DAY).access, state.access()),
        (Access::Open, Access::Open)
    );
}

#[test]
fn only_what_opens_is_said_to_open() {
    let opens = |asked_for| {
        let mut state = after([asked(70, asked_for, DAY)]);
        state.applied_version = 1;
        shown(&state, DAY).opens
    };
    assert!(opens(Asked::Enable));
    for asked_for in [Asked::Disable, Asked::ResetTraffic, squads([]), end(40 * DAY)] {
        assert!(
            !opens(asked_for.clone()),
            "{asked_for:?} leaves a user alone that was shut by hand"
        );
    }
}

#[test]
fn numbers_that_cannot_be_sold_are_refused() {
    let live = folded(live_and([]));
    for wish in [
        limits(None, None),
        limits(Some(Limit::AtMost(0)), None),
        limits(Some(Limit::AtMost(-1)), None),
        limits(Some(Limit::AtMost(i64::MAX)), None),
        limits(None, Some(Limit::AtMost(0))),
        limits(Some(Limit::Unlimited), Some(Limit::AtMost(-3))),
        squads((0..=u128::try_from(MAX_SQUADS).expect("small")).map(|number| number + 1)),
    ] {
        refused(&live, asked(70, wish.clone(), DAY), Error::InvalidTerms);
        refused(&live, planned(70, wish, Some(2 * DAY), DAY), Error::InvalidTerms);
    }
    for second in [0, DAY, 30 * DAY] {
        refused(&live, asked(70, end(second), DAY), Error::EndNotLater);
        refused(&live, planned(70, end(second), Some(2 * DAY), DAY), Error::EndNotLater);
    }
    let beyond = Asked::EndsAt {
        ends_at: crate::time::Timestamp::MAX_UTC,
    };
    refused(&live, asked(70, beyond, DAY), Error::EndOutOfRange);
    assert_eq!(
        Entitlement::default().decide(asked(70, Asked::Enable, 0)),
        Err(Error::NotFound)
    );
}

#[test]
fn a_repeat_adds_nothing_and_the_same_key_for_something_else_is_refused() {
    let wish = limits(Some(Limit::AtMost(5)), None);
    let state = after([asked(70, wish.clone(), DAY)]);
    let again = |number: u128, asked: Asked, effective| Command::Change {
        asked,
        effective_at: effective,
        operation: OpenOperation {
            operation_id: id(number),
            ..open(70)
        },
        at: at(2 * DAY),
    };
    assert_eq!(state.decide(again(70, wish.clone(), None)), Ok(vec![]));
    assert_eq!(
        state.decide(again(71, wish.clone(), None)),
        Ok(vec![]),
        "whatever id it brings"
    );
    for other in [
        limits(Some(Limit::AtMost(6)), None),
        limits(Some(Limit::AtMost(5)), Some(Limit::AtMost(4))),
        Asked::Disable,
    ] {
        refused(&state, again(71, other, None), Error::OperationConflict);
    }
    refused(
        &state,
        again(71, wish.clone(), Some(at(9 * DAY))),
        Error::OperationConflict,
    );
    assert_eq!(
        state.decide(again(71, wish, Some(at(DAY)))),
        Ok(vec![]),
        "a moment that is past is at once"
    );
    refused(&state, asked(61, Asked::Enable, DAY), Error::OperationConflict);
}

#[test]
fn a_repeat_of_a_plan_is_one_however_late_it_comes() {
    let plan = planned(70, Asked::Disable, Some(5 * DAY), DAY);
    let mut state = after([plan.clone()]);
    let late = |second| {
        let mut again = plan.clone();
        if let Command::Change { at: asked_at, .. } = &mut again {
            *asked_at = at(second);
        }
        again
    };
    assert_eq!(state.decide(late(2 * DAY)), Ok(vec![]));
    assert_eq!(
        state.decide(late(6 * DAY)),
        Ok(vec![]),
        "its moment has come, and it is still the same wish"
    );
    for event in state.decide(Command::TakeEffect { at: at(6 * DAY) }).expect("due") {
        state.evolve(event);
    }
    assert_eq!(state.decide(late(7 * DAY)), Ok(vec![]));
}

#[test]
fn what_an_operator_set_survives_the_same_plan_and_not_another() {
    let changed = || {
        vec![
            asked(70, limits(Some(Limit::AtMost(5)), None), DAY),
            asked(71, squads([8]), DAY),
            asked(72, Asked::Disable, DAY),
        ]
    };
    let mut larger = terms(30, 3);
    larger.limits.devices = Some(6);
    let again = extend(2, larger, 2 * DAY);
    let state = after(changed().into_iter().chain([again]));
    let expected = Limits {
        traffic_bytes: Some(5),
        devices: Some(6),
        squads: vec![Uuid::from_u128(8)],
    };
    assert_eq!(state.limits(), expected, "what was not set by hand is as sold now");
    assert_eq!((state.access(), state.ends_at), (Access::Disabled, Some(at(60 * DAY))));
    let mut other = terms(30, 3);
    other.plan_code = "family".to_owned();
    let sold = other.limits.clone();
    let state = after(changed().into_iter().chain([extend(2, other, 2 * DAY)]));
    assert_eq!((state.limits(), state.access()), (sold, Access::Disabled));
}

#[test]
fn a_plan_is_in_no_desired_state_before_its_moment() {
    let change = planned(70, limits(Some(Limit::AtMost(5)), None), Some(5 * DAY), DAY);
    let mut state = after([change, extend(2, terms(30, 3), 2 * DAY)]);
    for second in [2 * DAY, 5 * DAY, 90 * DAY] {
        let desired = shown(&state, second);
        assert_eq!(
            (desired.version, desired.limits.traffic_bytes),
            (2, terms(30, 3).limits.traffic_bytes)
        );
    }
    assert_eq!(state.decide(Command::TakeEffect { at: at(5 * DAY - 1) }), Ok(vec![]));
    let events = state.decide(Command::TakeEffect { at: at(5 * DAY) }).expect("due");
    for event in events {
        state.evolve(event);
    }
    let desired = shown(&state, 5 * DAY);
    assert_eq!((desired.version, desired.limits.traffic_bytes), (3, Some(5)));
    assert_eq!(desired.expire_at, at(63 * DAY), "what was bought meanwhile is in it");
    let operation = state.operations.get(&id(70)).expect("known");
    assert_eq!((operation.version, operation.outcome), (3, Outcome::Open));
    assert_eq!(state.decide(Command::TakeEffect { at: at(6 * DAY) }), Ok(vec![]));
}

#[test]
fn plans_take_effect_in_the_order_of_their_moments_and_before_what_is_asked_later() {
    let state = after([
        planned(70, limits(Some(Limit::AtMost(5)), None), Some(5 * DAY), DAY),
        planned(71, limits(Some(Limit::AtMost(4)), None), Some(4 * DAY), DAY),
        asked(72, limits(None, Some(Limit::AtMost(1))), 6 * DAY),
    ]);
    let desired = shown(&state, 6 * DAY);
    assert_eq!(
        (desired.version, desired.limits.traffic_bytes, desired.limits.devices),
        (4, Some(5), Some(1))
    );
    let order: Vec<_> = state.changes.iter().filter_map(|change| change.operation_id).collect();
    assert_eq!(order, [id(71), id(70), id(72)]);
}

#[test]
fn a_planned_end_never_takes_back_what_was_bought_meanwhile() {
    let mut state = after([
        planned(70, end(40 * DAY), Some(5 * DAY), DAY),
        extend(2, terms(30, 3), 2 * DAY),
    ]);
    let events = state.decide(Command::TakeEffect { at: at(5 * DAY) }).expect("due");
    for event in events {
        state.evolve(event);
    }
    assert_eq!(state.ends_at, Some(at(60 * DAY)));
}

#[test]
fn cancelling_before_the_moment_drops_the_change_and_after_it_does_not() {
    let cancel = Command::CancelOperation {
        operation_id: id(70),
        code: "operator_cancelled".to_owned(),
        at: at(2 * DAY),
    };
    let change = planned(70, Asked::Disable, Some(5 * DAY), DAY);
    let mut state = after([change.clone()]);
    let events = state.decide(cancel.clone()).expect("accepted");
    let dropped = Event::ChangeDropped {
        operation_id: id(70),
        at: at(2 * DAY),
    };
    assert_eq!((events.first(), events.len()), (Some(&dropped), 2));
    for event in events {
        state.evolve(event);
    }
    assert_eq!(state.decide(Command::TakeEffect { at: at(9 * DAY) }), Ok(vec![]));
    assert_eq!(shown(&state, 9 * DAY).access, Access::Open);
    assert_eq!(state.decide(change.clone()), Ok(vec![]), "the key stays taken");

    let mut state = after([change, Command::TakeEffect { at: at(6 * DAY) }]);
    let events = state.decide(cancel).expect("accepted");
    assert_eq!(events.len(), 1);
    for event in events {
        state.evolve(event);
    }
    assert_eq!(
        shown(&state, 9 * DAY).access,
        Access::Disabled,
        "the desired state stays"
    );
}

#[test]
fn plans_are_bounded() {
    let many = (0..64).map(|number| planned(100 + number, Asked::Disable, Some(5 * DAY), DAY));
    let state = after(many);
    refused(
        &state,
        planned(200, Asked::Disable, Some(5 * DAY), DAY),
        Error::TooManyPlanned,
    );
    assert!(state.decide(asked(200, Asked::Disable, DAY)).is_ok());
}

#[test]
fn a_right_that_has_not_begun_is_changed_without_being_shown() {
    let mut state = folded(Entitlement::default().decide(grant(Some(20 * DAY))).expect("accepted"));
    let events = state
        .decide(asked(70, limits(Some(Limit::AtMost(5)), None), DAY))
        .expect("accepted");
    assert!(
        matches!(events.last(), Some(Event::OperationOpened { effective_at, .. }) if *effective_at == Some(at(20 * DAY)))
    );
    for event in events {
        state.evolve(event);
    }
    assert_eq!(state.desired_at(at(20 * DAY - 1)), None);
    assert_eq!(shown(&state, 20 * DAY).limits.traffic_bytes, Some(5));
}

#[test]
fn traffic_starts_anew_by_its_own_operation_only() {
    let mut state = after([asked(70, Asked::ResetTraffic, DAY)]);
    state.applied_version = 1;
    let desired = shown(&state, DAY);
    assert_eq!((desired.version, desired.reset_traffic), (2, None));
}
