//! Creating, updating, finding, opening and shutting users.

use chrono::{SubsecRound as _, TimeDelta};
use domain::{
    entitlement::{RemoteStatus, remote_description, remote_username},
    ids::SubscriptionId,
    plan::Limits,
};
use ports::panel::{FailureKind, PanelReader as _, PanelWriter as _, Push};
use uuid::Uuid;

use crate::rig::{GIB, Rig, squad};

#[tokio::test]
async fn a_created_user_is_found_as_it_was_pushed() {
    let rig = Rig::start().await;
    let subscription = SubscriptionId::new(Uuid::from_u128(7));
    let (name, mark) = (remote_username(subscription), remote_description(subscription));
    let push = rig.push();
    let created = rig.panel.create_user(&name, &mark, &push).await.unwrap();
    assert_eq!(created.username, name);
    assert_eq!(created.status, RemoteStatus::Active);
    assert_eq!(created.expire_at, push.expire_at.trunc_subsecs(3));
    assert_eq!(created.traffic_limit_bytes, 50 * GIB);
    assert_eq!(created.device_limit, Some(3));
    assert_eq!(created.squads, vec![squad(0)]);
    assert_eq!(created.description.as_deref(), Some(mark.as_str()));
    assert_eq!(rig.panel.user(created.id).await.unwrap(), Some(created.clone()));
    assert_eq!(rig.panel.user_by_username(&name).await.unwrap(), Some(created));
    let report = rig.report();
    assert_eq!((report.users, report.duplicate_users, report.foreign_users), (1, 0, 0));
    assert_eq!(report.users_by_subscription[&subscription.to_string()], vec![1]);
}

#[tokio::test]
async fn a_missing_user_is_none_to_a_reader_and_an_error_to_a_writer() {
    let rig = Rig::start().await;
    assert_eq!(rig.panel.user(77).await.unwrap(), None);
    assert_eq!(rig.panel.user_by_username("nobody/../x y%").await.unwrap(), None);
    let error = rig.panel.update_user(77, &rig.push()).await.unwrap_err();
    assert_eq!(
        (error.code.as_str(), error.kind),
        ("remote_user_not_found", FailureKind::Transient)
    );
    let error = rig.panel.reset_traffic(77).await.unwrap_err();
    assert_eq!(error.code, "remote_user_not_found");
}

/// Case B36.
#[tokio::test]
async fn b36_unlimited_is_zero_and_squads_are_sent_even_when_there_are_none() {
    let rig = Rig::start().await;
    let free = Limits {
        traffic_bytes: None,
        devices: None,
        squads: Vec::new(),
    };
    let push = Push {
        limits: free,
        ..rig.push()
    };
    let user = rig.panel.create_user("unlimited", "d", &push).await.unwrap();
    assert_eq!(
        (user.traffic_limit_bytes, user.device_limit, user.squads.len()),
        (0, Some(0), 0)
    );
    let narrowed = rig.panel.update_user(user.id, &rig.push()).await.unwrap();
    assert_eq!(
        (narrowed.traffic_limit_bytes, narrowed.device_limit),
        (50 * GIB, Some(3))
    );
    assert_eq!(narrowed.squads, vec![squad(0)]);
    let widened = rig.panel.update_user(user.id, &push).await.unwrap();
    assert_eq!(
        (widened.traffic_limit_bytes, widened.device_limit, widened.squads.len()),
        (0, Some(0), 0)
    );
}

#[tokio::test]
async fn repeating_a_push_changes_nothing() {
    let rig = Rig::start().await;
    let user = rig.panel.create_user("repeated", "d", &rig.push()).await.unwrap();
    let first = rig.panel.update_user(user.id, &rig.push()).await.unwrap();
    let second = rig.panel.update_user(user.id, &rig.push()).await.unwrap();
    assert_eq!(first, second);
}

#[tokio::test]
async fn opening_and_shutting_twice_is_success() {
    let rig = Rig::start().await;
    let user = rig.panel.create_user("doors", "d", &rig.push()).await.unwrap();
    rig.panel.enable_user(user.id).await.unwrap();
    for _ in 0..2 {
        rig.panel.disable_user(user.id).await.unwrap();
        assert_eq!(
            rig.panel.user(user.id).await.unwrap().unwrap().status,
            RemoteStatus::Disabled
        );
    }
    for _ in 0..2 {
        rig.panel.enable_user(user.id).await.unwrap();
        assert_eq!(
            rig.panel.user(user.id).await.unwrap().unwrap().status,
            RemoteStatus::Active
        );
    }
    let calls = rig.report().calls;
    assert_eq!((calls["disable"], calls["enable"]), (1, 1));
    assert_eq!(
        rig.panel.enable_user(99).await.unwrap_err().code,
        "remote_user_not_found"
    );
}

#[tokio::test]
async fn an_expired_user_revives_by_one_push() {
    let rig = Rig::start().await;
    let user = rig.panel.create_user("expiring", "d", &rig.push()).await.unwrap();
    rig.clock.advance(TimeDelta::days(31));
    assert_eq!(
        rig.panel.user(user.id).await.unwrap().unwrap().status,
        RemoteStatus::Expired
    );
    let revived = rig.panel.update_user(user.id, &rig.push()).await.unwrap();
    assert_eq!(revived.status, RemoteStatus::Active);

    rig.panel.disable_user(user.id).await.unwrap();
    let kept = rig
        .panel
        .update_user(
            user.id,
            &Push {
                expire_at: rig.now() + TimeDelta::days(60),
                ..rig.push()
            },
        )
        .await;
    assert_eq!(kept.unwrap().status, RemoteStatus::Disabled, "shut by hand stays shut");
    let opened = rig
        .panel
        .update_user(
            user.id,
            &Push {
                activate: true,
                shut: false,
                ..rig.push()
            },
        )
        .await
        .unwrap();
    assert_eq!(opened.status, RemoteStatus::Active);
}

#[tokio::test]
async fn a_user_can_be_made_shut_and_stays_so_through_an_update() {
    let rig = Rig::start().await;
    let shut = Push {
        shut: true,
        ..rig.push()
    };
    let user = rig.panel.create_user("paused", "d", &shut).await.unwrap();
    assert_eq!(user.status, RemoteStatus::Disabled);
    let updated = rig.panel.update_user(user.id, &shut).await.unwrap();
    assert_eq!(updated.status, RemoteStatus::Disabled);
    assert!(
        rig.panel
            .squad_ids()
            .await
            .unwrap()
            .contains(&rig.push().limits.squads[0])
    );
}

#[tokio::test]
async fn a_used_up_limit_ends_by_reset_or_by_more() {
    let rig = Rig::start().await;
    let user = rig.panel.create_user("thirsty", "d", &rig.push()).await.unwrap();
    rig.control.set_traffic(user.id, 50 * GIB).await.unwrap();
    let limited = rig.panel.user(user.id).await.unwrap().unwrap();
    assert_eq!(
        (limited.status, limited.used_traffic_bytes),
        (RemoteStatus::Limited, 50 * GIB)
    );
    let reset = rig.panel.reset_traffic(user.id).await.unwrap();
    assert_eq!((reset.status, reset.used_traffic_bytes), (RemoteStatus::Active, 0));
    assert!(
        limited.traffic_reset_at.is_none() && reset.traffic_reset_at.is_some(),
        "the panel dates it"
    );

    rig.control.set_traffic(user.id, 50 * GIB).await.unwrap();
    let more = Limits {
        traffic_bytes: Some(60 * GIB),
        ..rig.push().limits
    };
    let raised = rig
        .panel
        .update_user(
            user.id,
            &Push {
                limits: more,
                ..rig.push()
            },
        )
        .await
        .unwrap();
    assert_eq!(
        (raised.status, raised.used_traffic_bytes),
        (RemoteStatus::Active, 50 * GIB)
    );
}

#[tokio::test]
async fn a_past_expiry_is_refused_for_good() {
    let rig = Rig::start().await;
    let user = rig.panel.create_user("late", "d", &rig.push()).await.unwrap();
    let past = Push {
        expire_at: rig.now(),
        ..rig.push()
    };
    let error = rig.panel.update_user(user.id, &past).await.unwrap_err();
    assert_eq!(
        (error.kind, error.code.as_str()),
        (FailureKind::Permanent, "remnawave_http_400")
    );
    assert_eq!(error.panel_code, None);
    // Creating with one is allowed, and the user is expired at once.
    let created = rig.panel.create_user("late-2", "d", &past).await.unwrap();
    assert_eq!(created.status, RemoteStatus::Expired);
}

#[tokio::test]
async fn an_unknown_squad_is_told_by_the_panel_as_a_failure_of_its_own() {
    let rig = Rig::start().await;
    let limits = Limits {
        squads: vec![Uuid::from_u128(0x1234_5678_1234_4234_8234_0000_0000_0001)],
        ..rig.push().limits
    };
    let push = Push { limits, ..rig.push() };
    let error = rig.panel.create_user("squadless", "d", &push).await.unwrap_err();
    assert_eq!(
        (error.kind, error.panel_code.as_deref()),
        (FailureKind::Transient, Some("A018"))
    );
    let user = rig.panel.create_user("squadless", "d", &rig.push()).await.unwrap();
    let error = rig.panel.update_user(user.id, &push).await.unwrap_err();
    assert_eq!(
        (error.kind, error.panel_code.as_deref()),
        (FailureKind::Transient, Some("A039"))
    );
    let names: Vec<String> = rig
        .panel
        .squads()
        .await
        .unwrap()
        .into_iter()
        .map(|squad| squad.name)
        .collect();
    assert_eq!(names, ["Standard", "Premium", "Streaming"]);
}

/// The panel's half of case B34: after a lost answer the user is there under its name and is recognisably ours; a stranger's is not.
#[tokio::test]
async fn b34_a_lost_create_is_found_by_name_and_a_stranger_is_not_ours() {
    let rig = Rig::start().await;
    let subscription = SubscriptionId::new(Uuid::from_u128(34));
    let (name, mark) = (remote_username(subscription), remote_description(subscription));
    let lost = sandbox::faults::FaultRule::new(
        sandbox::faults::SimulatorName::Panel,
        "POST /api/users",
        sandbox::faults::Fault::lost_answer(),
    );
    rig.control.set_faults(&[lost.at_most(1)]).await.unwrap();
    let error = rig.panel.create_user(&name, &mark, &rig.push()).await.unwrap_err();
    assert_eq!(error.kind, FailureKind::Unanswered);
    let error = rig.panel.create_user(&name, &mark, &rig.push()).await.unwrap_err();
    assert_eq!(
        (error.code.as_str(), error.panel_code.as_deref()),
        ("remote_username_taken", Some("A019"))
    );
    let ours = rig.panel.user_by_username(&name).await.unwrap().unwrap();
    assert_eq!(ours.description.as_deref(), Some(mark.as_str()));
    assert_eq!(rig.report().users, 1);

    rig.panel
        .create_user("somebody-else", "made by hand", &rig.push())
        .await
        .unwrap();
    let stranger = rig.panel.user_by_username("somebody-else").await.unwrap().unwrap();
    assert_ne!(stranger.description.as_deref(), Some(mark.as_str()));
    assert_eq!(rig.report().foreign_users, 1);
}
