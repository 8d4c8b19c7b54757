//! Random histories of crashes, lost answers and late requests: whatever happens, the panel ends with what is desired, once.

use std::time::Duration;

use domain::{entitlement::remote_description, ids::SubscriptionId, order};
use ports::{clock::Clock, panel::FailureKind};
use proptest::prelude::*;
use service::fulfillment::{Claim, Claimed, JobRef};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::support::{Paid, Script, Stage, error, histories};

/// Longer than a few runs take.
const LANDS_AFTER: Duration = Duration::from_millis(250);

/// One thing that happens to the one subscription.
#[derive(Clone, Copy, Debug)]
enum Step {
    Extend,
    /// A run of the oldest or the newest operation that is open, with the panel doing this.
    Run {
        newest: bool,
        panel: Panel,
    },
    /// A worker dies after its claim, or after its request was carried out.
    Crash {
        called: bool,
    },
    /// A worker hangs so long that another one takes over, then goes on as if nothing had happened.
    Stall,
    /// Time passes: what waits is due.
    Due,
}

#[derive(Clone, Copy, Debug)]
enum Panel {
    Well,
    Fails,
    DoneUnanswered,
    LateUnanswered,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let panel = prop_oneof![
        4 => Just(Panel::Well),
        2 => Just(Panel::Fails),
        2 => Just(Panel::DoneUnanswered),
        2 => Just(Panel::LateUnanswered),
    ];
    let step = prop_oneof![
        2 => Just(Step::Extend),
        5 => (any::<bool>(), panel).prop_map(|(newest, panel)| Step::Run { newest, panel }),
        2 => any::<bool>().prop_map(|called| Step::Crash { called }),
        1 => Just(Step::Stall),
        3 => Just(Step::Due),
    ];
    prop::collection::vec(step, 8..36)
}

/// Operations of a subscription that have not ended, oldest first.
async fn open(stage: &Stage, subscription_id: Uuid) -> Vec<Uuid> {
    sqlx::query_scalar(
        "select operation_id from fulfillment_operations where subscription_id = $1
         and status in ('pending', 'running', 'retrying') order by created_at, operation_id",
    )
    .bind(subscription_id)
    .fetch_all(&stage.pool)
    .await
    .unwrap()
}

async fn claim(stage: &Stage, operation_id: Uuid) -> Option<Box<Claimed>> {
    let run = stage.fetch(operation_id).await;
    let job = JobRef {
        job_id: run.job_id,
        attempt: run.attempt,
    };
    match stage.fulfillment.claim(job, operation_id).await.unwrap() {
        Claim::Run(claimed) => Some(claimed),
        Claim::Over | Claim::Wait(_) => None,
    }
}

/// The queue takes lost runs back, and leases end. The minute that a comparison waits for late requests ends when they have landed.
async fn time_passes(stage: &Stage) {
    for sql in [
        "update river_job set state = 'available' where state = 'running'",
        "update subscription_leases set expires_at = clock_timestamp() where released_at is null",
        // No publisher runs here, and every job was inserted by hand.
        "update outbox set published_at = now() where published_at is null",
    ] {
        sqlx::query(sql).execute(&stage.pool).await.unwrap();
    }
    sqlx::query(
        "update fulfillment_operations set next_attempt_at = clock_timestamp()
         where completed_at is null and (operation <> 'reconcile' or $1)",
    )
    .bind(stage.panel.nothing_is_on_its_way())
    .execute(&stage.pool)
    .await
    .unwrap();
}

async fn call(stage: &Stage, claimed: &Claimed) -> Option<service::fulfillment::Shown> {
    let mut sender = worker::push::Sender::new(Instant::now(), CancellationToken::new());
    worker::push::push(&mut sender, &stage.panel, claimed, stage.clock.now())
        .await
        .ok()
}

async fn happen(stage: &Stage, paid: &mut Vec<Paid>, step: Step) {
    let first = paid[0];
    let Some(operation_id) = open(stage, first.subscription_id).await.first().copied() else {
        if matches!(step, Step::Extend) {
            paid.push(stage.extend(first).await);
        }
        return;
    };
    match step {
        Step::Extend => paid.push(stage.extend(first).await),
        Step::Due => time_passes(stage).await,
        Step::Run { newest, panel } => {
            let operations = open(stage, first.subscription_id).await;
            let operation_id = if newest { operations.last().copied() } else { None }.unwrap_or(operation_id);
            stage.panel.forget_script();
            match panel {
                Panel::Well => {}
                Panel::Fails => stage
                    .panel
                    .then(Script::Fail(error(FailureKind::Transient, "remnawave_http_503"))),
                Panel::DoneUnanswered => stage.panel.then(Script::DoneUnanswered),
                Panel::LateUnanswered => stage.panel.then(Script::LateUnanswered(LANDS_AFTER)),
            }
            let _ = stage.run(operation_id).await;
            stage.panel.forget_script();
        }
        Step::Crash { called } => {
            if let Some(claimed) = claim(stage, operation_id).await
                && called
            {
                call(stage, &claimed).await;
            }
            time_passes(stage).await;
        }
        Step::Stall => {
            let stalled = claim(stage, operation_id).await;
            time_passes(stage).await;
            for other in open(stage, first.subscription_id).await.into_iter().rev().take(1) {
                let _ = stage.run(other).await;
            }
            if let Some(stalled) = stalled
                && let Some(shown) = call(stage, &stalled).await
            {
                let until = Instant::now() + Duration::from_secs(2);
                let _ = stage.fulfillment.record_shown(&stalled, shown, until).await;
            }
        }
    }
}

/// Everything gets its time, nothing fails any more.
async fn settle(stage: &Stage) {
    // Requests that were on their way land.
    sleep(LANDS_AFTER).await;
    for _ in 0..40 {
        time_passes(stage).await;
        sqlx::query(
            "update fulfillment_operations set next_attempt_at = now() - interval '2 min' where completed_at is null",
        )
        .execute(&stage.pool)
        .await
        .unwrap();
        let revived = stage.fulfillment.revive().await.unwrap();
        if revived.found == 0 {
            return;
        }
        let live: Vec<Uuid> = sqlx::query_scalar(
            "select (args ->> 'operationId')::uuid from river_job where kind = 'fulfillment' and finalized_at is null",
        )
        .fetch_all(&stage.pool)
        .await
        .unwrap();
        for operation_id in live {
            let _ = stage.run(operation_id).await;
        }
    }
    panic!("it does not come to rest");
}

async fn check(stage: &Stage, paid: &[Paid]) {
    let first = paid[0];
    let entitlement = stage.entitlement(first.entitlement_id).await;
    let desired = entitlement.desired_at(stage.clock.now()).unwrap();
    let users = stage.panel.users();
    assert_eq!(users.len(), 1, "one user of one subscription");
    let mark = remote_description(SubscriptionId::new(first.subscription_id));
    assert_eq!(users[0].description.as_deref(), Some(mark.as_str()));
    assert_eq!(
        users[0].expire_at, desired.expire_at,
        "the newest state, whatever landed when"
    );
    assert_eq!(entitlement.applied_version, desired.version);
    assert_eq!(entitlement.remote_user_id, Some(users[0].id));
    for order in paid {
        assert_eq!(stage.order_state(order.order_id).await, order::State::Fulfilled);
    }
    assert_eq!(
        stage
            .count("select count(*) from subscription_leases where released_at is null")
            .await,
        0
    );
    assert_eq!(
        stage
            .count("select count(*) from fulfillment_operations where status <> 'succeeded'")
            .await,
        0
    );
    assert_eq!(stage.count("select count(*) from dead_letters").await, 0);
}

#[test]
fn whatever_happens_the_panel_ends_with_what_is_desired() {
    histories::tell(32, &steps(), async |steps| {
        let stage = Stage::new().await;
        let mut paid = vec![stage.purchase().await];
        for step in steps {
            happen(&stage, &mut paid, step).await;
        }
        settle(&stage).await;
        check(&stage, &paid).await;
    });
}
