//! Payments over HTTP, with the provider that is a person.

use serde_json::json;

use crate::world::{MONTH, World};

#[tokio::test]
async fn a_manual_payment_is_opened_decided_and_settles() {
    let world = World::new().await;
    let order = world.order("one", MONTH).await;
    let path = format!("/v1/admin/orders/{order}/payments");
    let opened = world.post(&path, "pay", &json!({ "provider": "manual" })).await;
    assert_eq!(opened.status, 201, "{opened:?}");
    let payment = opened.json();
    assert_eq!(
        (
            payment["status"].as_str(),
            payment["amountMinor"].as_i64(),
            payment["providerReference"].as_str()
        ),
        (Some("requires_action"), Some(29_900), Some(order.as_str()))
    );
    assert_eq!(
        world.post(&path, "pay", &json!({ "provider": "manual" })).await.json(),
        payment
    );

    let path = format!("/v1/admin/payments/{}/manual-decision", payment["id"].as_str().unwrap());
    let approval = json!({ "approved": true, "operatorId": "ann", "reason": "transfer 42" });
    let decided = world.post(&path, "decide", &approval).await;
    assert_eq!(
        (decided.status.as_u16(), decided.json()["decision"].as_str()),
        (200, Some("approved"))
    );
    assert_eq!(world.post(&path, "decide", &approval).await.json(), decided.json());
    let rejection = json!({ "approved": false, "operatorId": "bob", "reason": "no" });
    let other = world.post(&path, "decide-2", &rejection).await;
    assert_eq!(
        (other.status.as_u16(), other.code().as_str()),
        (422, "manual_decision_rejected")
    );
    assert_eq!(
        world.get(&format!("/v1/admin/orders/{order}")).await.json()["state"],
        "paid"
    );

    let backlog = world.get("/v1/admin/outbox").await.json();
    assert_eq!(backlog["pendingCount"], 2);
    assert!(backlog["oldestAgeSeconds"].is_i64());
}

#[tokio::test]
async fn payment_refusals_have_their_codes() {
    let world = World::new().await;
    let order = world.order("one", MONTH).await;
    let path = format!("/v1/admin/orders/{order}/payments");
    let answer = world.post(&path, "a", &json!({ "provider": "nobody" })).await;
    assert_eq!(
        (answer.status.as_u16(), answer.code().as_str()),
        (422, "provider_unavailable")
    );
    // Nobody answers at the provider's address: nothing is stored, and the same key may be repeated.
    for _ in 0..2 {
        let answer = world.post(&path, "b", &json!({ "provider": "cryptobot" })).await;
        assert_eq!(
            (answer.status.as_u16(), answer.code().as_str()),
            (503, "upstream_unavailable")
        );
        assert!(answer.headers.contains_key("retry-after"));
    }
    assert_eq!(world.count("select count(*) from payment_intents").await, 1);
    let long = json!({ "provider": "manual", "description": "x".repeat(501) });
    assert_eq!(world.post(&path, "c", &long).await.code(), "invalid_request");

    let opened = world.post(&path, "d", &json!({ "provider": "manual" })).await.json();
    let path = format!("/v1/admin/payments/{}/reconcile", opened["id"].as_str().unwrap());
    let answer = world.post(&path, "e", &json!({})).await;
    assert_eq!(
        (answer.status.as_u16(), answer.code().as_str()),
        (422, "reconciliation_failed")
    );
    let absent = "/v1/admin/payments/01960000-0000-7000-8000-00000000dead/reconcile";
    assert_eq!(world.post(absent, "f", &json!({})).await.code(), "payment_not_found");
}
