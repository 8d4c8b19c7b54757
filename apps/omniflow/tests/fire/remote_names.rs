//! Whose user is it? An answer that was lost, and a name that somebody else holds.

use std::time::Duration;

use domain::entitlement::remote_username;
use reqwest::Method;
use sandbox::{
    faults::{Fault, FaultRule, SimulatorName},
    journal::panel_report,
};
use serde_json::json;
use tokio::time::Instant;
use uuid::Uuid;

use crate::fire::{installation::Installation, panel};

/// A user that somebody else made on the panel.
async fn make_foreign(installation: &Installation, username: &str) {
    let user = json!({"username": username, "expireAt": "2031-01-01T00:00:00.000Z", "description": "somebody else's"});
    panel::by_hand(installation.path(), Method::POST, "/api/users", &user).await;
}

/// (status, code) of an order's operation, once it ended.
async fn ended(installation: &Installation, order: Uuid) -> (String, Option<String>) {
    let deadline = Instant::now() + Duration::from_secs(40);
    loop {
        let found: Option<(String, Option<String>)> = sqlx::query_as(
            "select status, last_error_code from fulfillment_operations where order_id = $1 and completed_at is not null",
        )
        .bind(order)
        .fetch_optional(&installation.pool)
        .await
        .expect("readable");
        if let Some(ended) = found {
            return ended;
        }
        assert!(Instant::now() < deadline, "the operation has no end");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

async fn notices(installation: &Installation, order: Uuid) -> i64 {
    sqlx::query_scalar(
        "select count(*) from operator_notices notice join fulfillment_operations operation
             on notice.dedupe_key = 'operation:' || operation.operation_id
          where notice.kind = 'fulfillment_failure' and operation.order_id = $1",
    )
    .bind(order)
    .fetch_one(&installation.pool)
    .await
    .expect("readable")
}

pub(crate) async fn b34_a_lost_answer_makes_one_user_and_a_foreign_one_is_never_touched() {
    let installation = Installation::start().await;
    let _worker = installation.worker();
    let (lost, foreign) = (installation.place_plan().await, installation.place_plan().await);
    let subscription = foreign.subscription_id.expect("of a plan");
    let username = remote_username(subscription.into());
    make_foreign(&installation, &username).await;
    let before = panel_report(installation.path()).expect("readable").last_states;
    let fault = FaultRule::new(SimulatorName::Panel, "POST /api/users", Fault::lost_answer()).at_most(1);
    installation.control().set_faults(&[fault]).await.expect("set");

    installation.pay(&lost).await;
    assert_eq!(ended(&installation, lost.id).await.0, "succeeded");
    installation.pay(&foreign).await;
    let (status, code) = ended(&installation, foreign.id).await;
    assert_eq!(
        (status.as_str(), code.as_deref()),
        ("failed", Some("remote_username_foreign"))
    );
    assert_eq!(notices(&installation, foreign.id).await, 1, "operators are told");

    let report = panel_report(installation.path()).expect("readable");
    let users = |order: &omniflow::driver::Bought| {
        let subscription = order.subscription_id.expect("of a plan").to_string();
        report.users_by_subscription.get(&subscription).map_or(0, Vec::len)
    };
    assert_eq!((users(&lost), users(&foreign)), (1, 0));
    for (id, user) in &before {
        assert_eq!(report.last_states.get(id), Some(user), "the foreign user is as it was");
    }
    assert_eq!((report.users, report.calls.get("create")), (2, Some(&2)));
}
