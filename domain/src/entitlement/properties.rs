//! Any sequence of commands keeps the invariants of the module's head.

use proptest::prelude::*;

use super::{
    Access, Agreed, Asked, Command, Difference, Entitlement, Event, Limit, Observed, OpenOperation, OperationKind,
    Outcome, RemoteStatus,
};
use crate::{
    aggregate::Decide as _,
    fixtures::{DAY, at, id, terms},
    properties::walk,
};

fn any_time() -> impl Strategy<Value = i64> {
    0..90 * DAY
}

fn open(number: u128) -> OpenOperation {
    OpenOperation {
        operation_id: id(number),
        idempotency_key: format!("key:{number}"),
        correlation_id: "flow".to_owned(),
    }
}

fn any_period() -> impl Strategy<Value = Command> {
    let effective = prop::option::weighted(0.2, any_time());
    (1..8_u128, 60..72_u128, -1..40_i64, effective, any_time(), any::<bool>()).prop_map(
        |(order, operation, days, effective, second, first)| {
            let (order_id, terms, effective_at) = (id(order), terms(days, 3), effective.map(at));
            let (operation, at) = (open(operation), at(second));
            if first {
                let (entitlement_id, subscription_id, customer_id) = (id(30), id(40), id(2));
                Command::Grant {
                    entitlement_id,
                    subscription_id,
                    customer_id,
                    order_id,
                    terms,
                    effective_at,
                    operation,
                    at,
                }
            } else {
                Command::Extend {
                    order_id,
                    terms,
                    effective_at,
                    operation,
                    at,
                }
            }
        },
    )
}

fn any_record() -> impl Strategy<Value = Command> {
    let status = prop::sample::select(vec![
        RemoteStatus::Active,
        RemoteStatus::Disabled,
        RemoteStatus::Limited,
    ]);
    (60..72_u128, -1..8_i64, 500..502_i64, status, any_time()).prop_map(
        |(operation, version, remote_user_id, remote_status, second)| Command::RecordApplied {
            operation_id: id(operation),
            version,
            remote_user_id,
            remote_status,
            at: at(second),
        },
    )
}

fn any_other() -> impl Strategy<Value = Command> {
    (0..8_u8, 60..72_u128, any_time()).prop_map(|(which, number, second)| {
        let (operation_id, at, code) = (id(number), at(second), "code".to_owned());
        match which {
            0 => Command::OpenReconcile {
                operation: open(number),
                at,
            },
            1 => Command::CloseSuperseded { operation_id, at },
            2 => Command::RecordFailed {
                operation_id,
                code,
                attempts: 12,
                at,
            },
            3 => Command::RetryOperation { operation_id, at },
            4 => look(None, at),
            5 => look(Some(RemoteStatus::Disabled), at),
            6 => Command::RecordReconciled {
                operation_id,
                agreed: Some(Agreed {
                    version: 1,
                    remote_user_id: 500,
                    remote_status: RemoteStatus::Active,
                }),
                at,
            },
            _ => Command::CancelOperation { operation_id, code, at },
        }
    })
}

/// A look at the panel: nobody there, or a user with nothing of what was sold.
fn look(status: Option<RemoteStatus>, at: crate::time::Timestamp) -> Command {
    Command::RecordDrift {
        operation_id: None,
        version: 1,
        observed: status.map(|status| Observed {
            expire_at: at,
            traffic_limit_bytes: 1,
            device_limit: None,
            squads: Vec::new(),
            status,
        }),
        at,
    }
}

fn any_asked() -> impl Strategy<Value = Asked> {
    let traffic = prop::option::of(prop_oneof![Just(Limit::Unlimited), (-1..5_i64).prop_map(Limit::AtMost)]);
    let devices = prop::option::of(prop_oneof![Just(Limit::Unlimited), (0..4_i32).prop_map(Limit::AtMost)]);
    prop_oneof![
        any_time().prop_map(|second| Asked::EndsAt { ends_at: at(second) }),
        (traffic, devices).prop_map(|(traffic_bytes, devices)| Asked::Limits { traffic_bytes, devices }),
        prop::collection::vec((1..4_u128).prop_map(uuid::Uuid::from_u128), 0..3)
            .prop_map(|squads| Asked::Squads { squads }),
        Just(Asked::Enable),
        Just(Asked::Disable),
        Just(Asked::ResetTraffic),
        Just(Asked::Pause),
        Just(Asked::Pause),
        Just(Asked::Resume),
        Just(Asked::Resume),
    ]
}

fn any_change() -> impl Strategy<Value = Command> {
    let effective = prop::option::weighted(0.3, any_time());
    (60..90_u128, any_asked(), effective, any_time()).prop_map(|(number, asked, effective, second)| Command::Change {
        asked,
        effective_at: effective.map(at),
        operation: open(number),
        at: at(second),
    })
}

fn any_moment() -> impl Strategy<Value = Command> {
    any_time().prop_map(|second| Command::TakeEffect { at: at(second) })
}

fn any_command() -> impl Strategy<Value = Command> {
    prop_oneof![3 => any_period(), 3 => any_record(), 4 => any_other(), 5 => any_change(), 1 => any_moment()]
}

/// I6: what is detected is news, what is corrected was open, and nothing else opens or ends drift.
fn check_drifts(before: &Entitlement, events: &[Event], after: &Entitlement) -> Result<(), TestCaseError> {
    let mut drifts = before.open_drifts.clone();
    for event in events {
        if let Event::DriftDetected {
            kind,
            expected,
            observed,
            ..
        } = event
        {
            let difference = Difference {
                kind: *kind,
                expected: expected.clone(),
                observed: observed.clone(),
            };
            prop_assert!(before.applied_version > 0);
            prop_assert_ne!(drifts.insert(*kind, difference.clone()), Some(difference));
        }
        if let Event::DriftCorrected { kind, .. } = event {
            prop_assert!(drifts.remove(kind).is_some());
        }
    }
    prop_assert_eq!(&drifts, &after.open_drifts);
    Ok(())
}

/// I7, I8, and that nothing shown can be beyond what may be sold.
fn check_changes(before: &Entitlement, events: &[Event], after: &Entitlement) -> Result<(), TestCaseError> {
    for change in &after.changes {
        prop_assert!(change.limits.are_valid());
    }
    prop_assert_eq!(after.access() == Access::Paused, after.paused_at.is_some());
    prop_assert_eq!(
        after.changes.last().map_or(Access::Open, |change| change.access),
        after.access()
    );
    let mut planned: std::collections::BTreeSet<_> = before.planned.iter().map(|one| one.operation_id).collect();
    for event in events {
        if let Event::Resumed {
            ends_at,
            paused_seconds,
            at,
            ..
        } = event
        {
            let began = before.paused_at.expect("only what is paused is resumed");
            let passed = (*at - began).max(chrono::TimeDelta::zero());
            let earlier = after.changes.iter().rev().nth(1).map(|change| change.ends_at);
            prop_assert_eq!(Some(*ends_at), earlier.map(|end| end + passed));
            prop_assert_eq!(*paused_seconds, passed.num_seconds());
            prop_assert_eq!(after.paused_seconds, before.paused_seconds + paused_seconds);
        }
        if let Event::ChangePlanned {
            operation_id,
            effective_at,
            at,
            ..
        } = event
        {
            prop_assert!(planned.insert(*operation_id) && effective_at > at);
        }
        if let Event::ChangeDropped { operation_id, .. } = event {
            prop_assert!(planned.remove(operation_id));
        }
    }
    for change in after
        .changes
        .iter()
        .skip(before.changes.len())
        .filter_map(|change| change.operation_id)
    {
        planned.remove(&change);
    }
    prop_assert!(
        planned.into_iter().eq(sorted(after)),
        "a plan is kept, takes effect or is dropped by an event"
    );
    Ok(())
}

fn sorted(state: &Entitlement) -> impl Iterator<Item = crate::ids::OperationId> {
    let planned: std::collections::BTreeSet<_> = state.planned.iter().map(|one| one.operation_id).collect();
    planned.into_iter()
}

fn check(before: &Entitlement, events: &[Event], after: &Entitlement) -> Result<(), TestCaseError> {
    // I1
    let versions: Vec<i64> = after.changes.iter().map(|change| change.version).collect();
    prop_assert!(versions.iter().copied().eq(1..=after.desired_version()), "{versions:?}");
    prop_assert!((before.applied_version..=after.desired_version()).contains(&after.applied_version));
    // I3
    prop_assert!(after.ends_at >= before.ends_at);
    for event in events {
        if let Event::Extended { ends_at, terms, at, .. } = event {
            // Planned changes may have taken effect just before.
            let earlier = after.changes.iter().rev().nth(1).map(|change| change.ends_at);
            let now = before.paused_at.unwrap_or(*at);
            let base = earlier.or(before.ends_at).map_or(now, |end| end.max(now));
            prop_assert_eq!((*ends_at - base).num_seconds(), terms.duration_seconds);
        }
    }
    // I4
    for (operation_id, operation) in &before.operations {
        let now = after.operations.get(operation_id).map(|later| later.outcome);
        match operation.outcome {
            Outcome::Succeeded | Outcome::Cancelled => prop_assert_eq!(now, Some(operation.outcome)),
            Outcome::Failed => prop_assert_ne!(now, Some(Outcome::Succeeded)),
            Outcome::Open => prop_assert!(now.is_some()),
        }
    }
    check_drifts(before, events, after)?;
    check_changes(before, events, after)?;
    // Whatever succeeded with a goal is shown.
    for operation in after
        .operations
        .values()
        .filter(|operation| operation.outcome == Outcome::Succeeded)
    {
        prop_assert!(operation.kind == OperationKind::Reconcile || operation.version <= after.applied_version);
    }
    let reconciles = |operation: &&super::OperationState| {
        operation.kind == OperationKind::Reconcile && operation.outcome == Outcome::Open
    };
    prop_assert!(after.operations.values().filter(reconciles).count() <= 1);
    Ok(())
}

proptest! {
    #[test]
    fn any_sequence_of_commands_keeps_the_invariants(commands in prop::collection::vec(any_command(), 0..50)) {
        let history = walk::<Entitlement>(commands, check)?;
        // I2, and every paid change opens exactly one operation in the same decision.
        let mut orders = std::collections::BTreeSet::new();
        let mut changes = 0;
        for event in &history {
            if let Event::Granted { order_id, .. } | Event::Extended { order_id, .. } = event {
                prop_assert!(orders.insert(*order_id));
                changes += 1;
            }
        }
        let opened = history.iter().filter(|event| matches!(event, Event::OperationOpened { order_id: Some(_), .. })).count();
        prop_assert_eq!(opened, changes);
    }

    #[test]
    fn what_an_operator_set_stays_until_something_else_is_set(
        wishes in prop::collection::vec(any_asked(), 1..8), renewals in 0..4_u128,
    ) {
        let mut state: Entitlement = crate::properties::fold(&super::tests::live_and([]));
        for (number, asked) in (100_u128..).zip(wishes) {
            let command = Command::Change { asked, effective_at: None, operation: open(number), at: at(DAY) };
            for event in state.decide(command).unwrap_or_default() {
                state.evolve(event);
            }
        }
        let (limits, access, ends_at) = (state.limits(), state.access(), state.ends_at);
        for number in 0..renewals {
            let command = super::tests::extend(200 + number, terms(30, 3), 2 * DAY);
            for event in state.decide(command).expect("the same plan is sold again") {
                state.evolve(event);
            }
        }
        prop_assert_eq!((state.limits(), state.access()), (limits, access));
        let bought = i64::try_from(renewals).expect("few") * 30;
        prop_assert_eq!(state.ends_at, ends_at.map(|end| end + chrono::TimeDelta::days(bought)));
    }

    #[test]
    fn the_desired_state_only_moves_forward_in_time(
        commands in prop::collection::vec(any_period(), 1..12), first in any_time(), pause in 0..90 * DAY,
    ) {
        let history = walk::<Entitlement>(commands, |_, _, _| Ok(()))?;
        let entitlement: Entitlement = crate::properties::fold(&history);
        let version = |second| entitlement.desired_at(at(second)).map_or(0, |desired| desired.version);
        prop_assert!(version(first) <= version(first + pause));
        if let Some(desired) = entitlement.desired_at(at(first)) {
            prop_assert!(entitlement.changes.iter().any(|change| change.version == desired.version && change.ends_at < desired.expire_at));
        }
    }
}
