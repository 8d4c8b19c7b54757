//! Random hands at the panel among purchases and crashes: the panel ends with what is desired, and no difference stays open.

use chrono::TimeDelta;
use domain::entitlement::{Observed, RemoteStatus, drift::compare};
use ports::{clock::Clock, panel::FailureKind};
use proptest::prelude::*;
use uuid::Uuid;

use crate::support::{Paid, Script, Stage, error, histories};

#[derive(Clone, Copy, Debug)]
enum Step {
    /// Somebody changes the user by hand.
    Edit(Edit),
    Extend,
    /// The pass, in the next bucket or in the same one.
    Pass {
        later: bool,
    },
    /// Everything that waits runs, with the panel doing this first.
    Run(Panel),
}

#[derive(Clone, Copy, Debug)]
enum Edit {
    Expiry(i64),
    Traffic(i64),
    Devices(Option<i64>),
    NoSquads,
    Status(RemoteStatus),
    Delete,
}

#[derive(Clone, Copy, Debug)]
enum Panel {
    Well,
    Fails,
    DoneUnanswered,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let status = prop::sample::select(vec![
        RemoteStatus::Active,
        RemoteStatus::Disabled,
        RemoteStatus::Limited,
        RemoteStatus::Expired,
        RemoteStatus::Other,
    ]);
    let edit = prop_oneof![
        (-40..400_i64).prop_map(Edit::Expiry),
        (0..1_000_i64).prop_map(Edit::Traffic),
        prop::option::of(0..9_i64).prop_map(Edit::Devices),
        Just(Edit::NoSquads),
        status.prop_map(Edit::Status),
        Just(Edit::Delete),
    ];
    let panel = prop_oneof![4 => Just(Panel::Well), 1 => Just(Panel::Fails), 1 => Just(Panel::DoneUnanswered)];
    let step = prop_oneof![
        4 => edit.prop_map(Step::Edit),
        1 => Just(Step::Extend),
        2 => any::<bool>().prop_map(|later| Step::Pass { later }),
        3 => panel.prop_map(Step::Run),
    ];
    prop::collection::vec(step, 4..24)
}

fn edit(stage: &Stage, edit: Edit) {
    let now = stage.clock.now();
    for user in stage.panel.users() {
        match edit {
            Edit::Delete => stage.panel.remove(user.id),
            _ => stage.panel.edit(user.id, |user| match edit {
                Edit::Expiry(days) => user.expire_at = now + TimeDelta::days(days),
                Edit::Traffic(bytes) => user.traffic_limit_bytes = bytes,
                Edit::Devices(limit) => user.device_limit = limit,
                Edit::NoSquads => user.squads.clear(),
                Edit::Status(status) => user.status = status,
                Edit::Delete => {}
            }),
        }
    }
}

/// Everything that waits gets its turn.
async fn run_all(stage: &Stage) {
    sqlx::query("update fulfillment_operations set next_attempt_at = clock_timestamp() where completed_at is null")
        .execute(&stage.pool)
        .await
        .unwrap();
    let live: Vec<Uuid> = sqlx::query_scalar(
        "select (args ->> 'operationId')::uuid from river_job where kind = 'fulfillment' and finalized_at is null order by id",
    )
    .fetch_all(&stage.pool)
    .await
    .unwrap();
    for operation_id in live {
        let _ = stage.run(operation_id).await;
    }
}

async fn happen(stage: &Stage, first: Paid, step: Step) {
    match step {
        Step::Edit(what) => edit(stage, what),
        Step::Extend => {
            stage.extend(first).await;
        }
        Step::Pass { later } => {
            if later {
                stage.next_bucket();
            }
            assert_eq!(stage.reconcile().await.failed, 0);
        }
        Step::Run(panel) => {
            match panel {
                Panel::Well => {}
                Panel::Fails => stage
                    .panel
                    .then(Script::Fail(error(FailureKind::Transient, "remnawave_http_500"))),
                Panel::DoneUnanswered => stage.panel.then(Script::DoneUnanswered),
            }
            run_all(stage).await;
            stage.panel.forget_script();
        }
    }
}

async fn check(stage: &Stage, first: Paid) {
    for _ in 0..3 {
        run_all(stage).await;
        stage.next_bucket();
        stage.reconcile().await;
    }
    run_all(stage).await;
    let entitlement = stage.entitlement(first.entitlement_id).await;
    let now = stage.clock.now();
    let desired = entitlement.desired_at(now).unwrap();
    let users = stage.panel.users();
    assert_eq!(users.len(), 1);
    let observed = Observed {
        expire_at: users[0].expire_at,
        traffic_limit_bytes: users[0].traffic_limit_bytes,
        device_limit: users[0].device_limit,
        squads: users[0].squads.clone(),
        status: users[0].status,
    };
    assert_eq!(compare(&desired, Some(&observed), now), Vec::new());
    assert!(entitlement.open_drifts.is_empty());
    assert_eq!(
        stage
            .count("select count(*) from entitlement_drifts where status = 'open'")
            .await,
        0
    );
    let detected = stage.events("entitlement.drift_detected").await;
    let rows = stage.count("select count(*) from entitlement_drifts").await;
    assert_eq!(
        rows,
        stage.events("entitlement.drift_corrected").await,
        "a row a correction"
    );
    assert!(detected >= rows, "a refreshed drift is one row");
    let known = entitlement
        .operations
        .values()
        .all(|operation| operation.outcome == domain::entitlement::Outcome::Succeeded);
    assert!(known);
    assert_eq!(stage.count("select count(*) from dead_letters").await, 0);
}

#[test]
fn whatever_hands_do_the_panel_ends_with_what_is_desired_and_no_drift_stays_open() {
    histories::tell(16, &steps(), async |steps| {
        let stage = Stage::new().await;
        let first = stage.purchase().await;
        stage.run(first.operation_id).await.unwrap();
        for step in steps {
            happen(&stage, first, step).await;
        }
        check(&stage, first).await;
    });
}
