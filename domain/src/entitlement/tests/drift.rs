//! Where the panel differs, what of it is drift, and when drift is over.

use proptest::prelude::*;
use uuid::Uuid;

use super::*;
use crate::entitlement::Access;
use crate::{
    entitlement::{
        Agreed, DesiredState, Difference, DriftKind, Observed, Side,
        drift::{PANEL_SETTLES_SECONDS, compare},
    },
    money::MAX_MINOR,
    plan::Limits,
};

/// A user that shows exactly what is desired.
fn showing(desired: &DesiredState) -> Observed {
    Observed {
        expire_at: desired.expire_at,
        traffic_limit_bytes: desired.limits.traffic_bytes.unwrap_or(0),
        device_limit: Some(i64::from(desired.limits.devices.unwrap_or(0))),
        squads: desired.limits.squads.iter().rev().copied().collect(),
        status: RemoteStatus::Active,
    }
}

fn any_desired() -> impl Strategy<Value = DesiredState> {
    let squads = prop::collection::vec((1..9_u128).prop_map(Uuid::from_u128), 0..4);
    let end = (DAY..90 * DAY, 0..1_000_000_i64);
    (
        prop::option::of(1..MAX_MINOR),
        prop::option::of(1..1_000_i32),
        squads,
        end,
    )
        .prop_map(|(traffic_bytes, devices, squads, (second, micros))| DesiredState {
            version: 1,
            expire_at: at(second) + chrono::TimeDelta::microseconds(micros),
            limits: Limits {
                traffic_bytes,
                devices,
                squads,
            }
            .normalised(),
            access: Access::Open,
            opens: false,
            reset_traffic: None,
        })
}

/// One change of one field, and the kind it must be found as.
fn any_change() -> impl Strategy<Value = (DriftKind, i64)> {
    let kinds = vec![
        DriftKind::Expiry,
        DriftKind::Traffic,
        DriftKind::DeviceLimit,
        DriftKind::Squads,
        DriftKind::Status,
    ];
    (
        prop::sample::select(kinds),
        prop_oneof![1..1_000_000_i64, Just(i64::MAX)],
    )
}

fn changed(mut user: Observed, kind: DriftKind, by: i64) -> Observed {
    match kind {
        DriftKind::Expiry => user.expire_at += chrono::TimeDelta::milliseconds(by.min(1 << 40)),
        DriftKind::Traffic => user.traffic_limit_bytes = user.traffic_limit_bytes.saturating_add(by),
        DriftKind::DeviceLimit => user.device_limit = Some(user.device_limit.unwrap_or(0).saturating_add(by)),
        DriftKind::Squads => user.squads.push(Uuid::from_u128(5)),
        DriftKind::Status => user.status = RemoteStatus::Disabled,
        DriftKind::MissingRemote => {}
    }
    user
}

fn kinds(differences: &[Difference]) -> Vec<DriftKind> {
    differences.iter().map(|difference| difference.kind).collect()
}

proptest! {
    #[test]
    fn what_was_pushed_is_no_drift_and_one_changed_field_is_exactly_its_kind(
        desired in any_desired(), (kind, by) in any_change(), panel_default: bool,
    ) {
        let mut user = showing(&desired);
        // The panel keeps milliseconds, and may call no limit of devices its own default.
        user.expire_at = chrono::SubsecRound::trunc_subsecs(user.expire_at, 3);
        if panel_default && desired.limits.devices.is_none() {
            user.device_limit = None;
        }
        prop_assert_eq!(compare(&desired, Some(&user), at(0)), Vec::new());
        let other = changed(user, kind, by);
        let found = compare(&desired, Some(&other), at(0));
        prop_assert_eq!(kinds(&found), vec![kind]);
        for difference in found {
            prop_assert_ne!(difference.expected, difference.observed);
        }
    }

    #[test]
    fn the_order_of_squads_means_nothing_and_their_number_everything(
        desired in any_desired(), repeated in 0..4_usize,
    ) {
        let mut user = showing(&desired);
        let by = usize::from(!user.squads.is_empty());
        user.squads.rotate_left(by);
        prop_assert_eq!(compare(&desired, Some(&user), at(0)), Vec::new());
        if let Some(squad) = user.squads.get(repeated).copied() {
            user.squads.push(squad);
            prop_assert_eq!(kinds(&compare(&desired, Some(&user), at(0))), vec![DriftKind::Squads]);
        }
    }
}

fn desired() -> DesiredState {
    folded(live_and([])).desired_at(at(0)).expect("due")
}

#[test]
fn the_sides_of_a_difference_are_wrapped() {
    let desired = desired();
    let missing = compare(&desired, None, at(0));
    assert_eq!(
        serde_json::to_value(&missing).expect("serialises"),
        serde_json::json!([{"kind": "missing_remote", "expected": {"exists": true}, "observed": {"exists": false}}])
    );
    let mut user = showing(&desired);
    user.traffic_limit_bytes = i64::MAX;
    user.device_limit = None;
    let found = serde_json::to_value(compare(&desired, Some(&user), at(0))).expect("serialises");
    assert_eq!(
        found,
        serde_json::json!([
            {"kind": "traffic", "expected": {"value": 107_374_182_400_i64}, "observed": {"value": MAX_MINOR}},
            {"kind": "device_limit", "expected": {"value": 3}, "observed": {"value": null}},
        ])
    );
}

#[test]
fn b36_a_limit_that_the_panel_kept_is_told_when_unlimited_is_wanted() {
    let mut desired = desired();
    let user = showing(&desired);
    desired.limits.traffic_bytes = None;
    desired.limits.devices = None;
    assert_eq!(
        kinds(&compare(&desired, Some(&user), at(0))),
        [DriftKind::Traffic, DriftKind::DeviceLimit]
    );
    for device_limit in [None, Some(0)] {
        let unlimited = Observed {
            traffic_limit_bytes: 0,
            device_limit,
            ..user.clone()
        };
        assert_eq!(compare(&desired, Some(&unlimited), at(0)), Vec::new());
    }
}

#[test]
fn a_right_that_is_over_needs_only_to_be_shut() {
    let desired = desired();
    let (end, later) = (33 * DAY, 33 * DAY + PANEL_SETTLES_SECONDS);
    let mut user = showing(&desired);
    assert_eq!(compare(&desired, None, at(end)), Vec::new(), "nobody makes it anew");
    assert_eq!(
        compare(&desired, Some(&user), at(end)),
        Vec::new(),
        "the panel is about to shut it"
    );
    assert_eq!(kinds(&compare(&desired, Some(&user), at(later))), [DriftKind::Status]);
    user.expire_at = at(60 * DAY);
    assert_eq!(
        kinds(&compare(&desired, Some(&user), at(later))),
        [DriftKind::Expiry, DriftKind::Status]
    );
    user.squads.clear();
    for status in [RemoteStatus::Disabled, RemoteStatus::Expired] {
        user.status = status;
        assert_eq!(compare(&desired, Some(&user), at(later)), Vec::new(), "{status:?}");
    }
}

#[test]
fn a_status_is_drift_only_where_access_differs() {
    let desired = desired();
    for (status, second, drifted) in [
        (RemoteStatus::Limited, 0, false),
        (RemoteStatus::Other, 0, false),
        (RemoteStatus::Disabled, 0, true),
        (RemoteStatus::Expired, 0, true),
        (RemoteStatus::Expired, 33 * DAY - 1, false),
    ] {
        let user = Observed {
            status,
            ..showing(&desired)
        };
        let found = compare(&desired, Some(&user), at(second));
        assert_eq!(!found.is_empty(), drifted, "{status:?} at {second}");
    }
}

fn look(operation: Option<u128>, version: i64, observed: Option<Observed>, second: i64) -> Command {
    Command::RecordDrift {
        operation_id: operation.map(id),
        version,
        observed,
        at: at(second),
    }
}

fn shut() -> Observed {
    Observed {
        status: RemoteStatus::Disabled,
        ..showing(&desired())
    }
}

fn detected(operation: Option<u128>, second: i64) -> Event {
    Event::DriftDetected {
        operation_id: operation.map(id),
        kind: DriftKind::Status,
        expected: Side::Value { value: "active".into() },
        observed: Side::Value {
            value: "disabled".into(),
        },
        version: 1,
        at: at(second),
    }
}

fn corrected(operation: Option<u128>, second: i64) -> Event {
    Event::DriftCorrected {
        operation_id: operation.map(id),
        kind: DriftKind::Status,
        version: 1,
        at: at(second),
    }
}

#[test]
fn the_same_drift_is_detected_once_and_other_values_refresh_it() {
    let shown = live_and([applied(1, 10), succeeded(61, false, 10)]);
    let given =
        |more: Vec<Event>| TestFramework::<Entitlement>::with(()).given(shown.iter().cloned().chain(more).collect());
    given(Vec::new())
        .when(look(Some(70), 1, Some(shut()), 20))
        .then_expect_events(vec![detected(Some(70), 20)]);
    given(vec![detected(Some(70), 20)])
        .when(look(None, 1, Some(shut()), 30))
        .then_expect_events(Vec::new());
    let expired = Observed {
        status: RemoteStatus::Expired,
        ..shut()
    };
    let mut refreshed = detected(None, 30);
    if let Event::DriftDetected { observed, .. } = &mut refreshed {
        *observed = Side::Value {
            value: "expired".into(),
        };
    }
    given(vec![detected(Some(70), 20)])
        .when(look(None, 1, Some(expired), 30))
        .then_expect_events(vec![refreshed]);
    given(vec![detected(Some(70), 20)])
        .when(look(None, 1, Some(showing(&desired())), 30))
        .then_expect_events(vec![corrected(None, 30)]);
}

#[test]
fn work_that_is_under_way_is_no_drift() {
    let never_shown = folded(live_and([]));
    assert_eq!(never_shown.decide(look(None, 1, None, 20)), Ok(Vec::new()));
    let next_is_coming = folded(extended_and([applied(1, 10)]));
    let before = showing(&desired());
    assert_eq!(
        next_is_coming.decide(look(None, 2, Some(before.clone()), 2 * DAY)),
        Ok(Vec::new()),
        "what version 1 looks like is no drift of version 2"
    );
    let shown = folded(extended_and([applied(1, 10), applied(2, 2 * DAY)]));
    assert_eq!(
        shown.decide(look(None, 1, Some(before), 2 * DAY)),
        Ok(Vec::new()),
        "a look that was taken for an older version"
    );
    let gone = next_is_coming.decide(look(None, 2, None, 2 * DAY)).expect("accepted");
    assert!(matches!(
        gone.as_slice(),
        [Event::DriftDetected {
            kind: DriftKind::MissingRemote,
            ..
        }]
    ));
}

#[test]
fn a_push_ends_every_open_drift() {
    let drifted = extended_and([applied(1, 10), detected(Some(70), 20)]);
    let push = Command::RecordApplied {
        operation_id: id(62),
        version: 2,
        remote_user_id: 500,
        remote_status: RemoteStatus::Active,
        at: at(2 * DAY),
    };
    let mut gone = corrected(Some(62), 2 * DAY);
    if let Event::DriftCorrected { version, .. } = &mut gone {
        *version = 2;
    }
    TestFramework::<Entitlement>::with(())
        .given(drifted)
        .when(push)
        .then_expect_events(vec![applied(2, 2 * DAY), gone, succeeded(62, false, 2 * DAY)]);
}

fn reconciled(operation: u128, agreed: Option<RemoteStatus>, second: i64) -> Command {
    Command::RecordReconciled {
        operation_id: id(operation),
        agreed: agreed.map(|remote_status| Agreed {
            version: 1,
            remote_user_id: 500,
            remote_status,
        }),
        at: at(second),
    }
}

#[test]
fn b75_a_check_that_changes_nothing_is_no_event() {
    let shown = folded(live_and([applied(1, 10), succeeded(61, false, 10)]));
    for agreed in [Some(RemoteStatus::Active), None] {
        assert_eq!(shown.decide(reconciled(70, agreed, 20)), Ok(Vec::new()));
    }
    let limited = shown
        .decide(reconciled(70, Some(RemoteStatus::Limited), 20))
        .expect("accepted");
    assert!(matches!(
        limited.as_slice(),
        [Event::Applied {
            remote_status: RemoteStatus::Limited,
            ..
        }]
    ));
}

#[test]
fn a_reconcile_that_the_stream_knows_ends_once_and_takes_its_drift_along() {
    let open = [
        applied(1, 10),
        succeeded(61, false, 10),
        opened(70, OperationKind::Reconcile, 1, None, 15),
        detected(Some(70), 20),
    ];
    TestFramework::<Entitlement>::with(())
        .given(live_and(open.clone()))
        .when(reconciled(70, Some(RemoteStatus::Active), 30))
        .then_expect_events(vec![corrected(Some(70), 30), succeeded(70, false, 30)]);
    let ended = open
        .into_iter()
        .chain([corrected(Some(70), 30), succeeded(70, false, 30)]);
    let ended = folded(live_and(ended));
    assert!(ended.open_drifts.is_empty());
    assert_eq!(
        ended.decide(reconciled(70, Some(RemoteStatus::Active), 40)),
        Ok(Vec::new())
    );
    let unknown = Command::RecordReconciled {
        operation_id: id(71),
        agreed: Some(Agreed {
            version: 2,
            remote_user_id: 500,
            remote_status: RemoteStatus::Active,
        }),
        at: at(40),
    };
    assert_eq!(ended.decide(unknown), Err(Error::UnknownVersion));
}
