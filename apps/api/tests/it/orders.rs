//! Orders over HTTP.

use axum::body::Body;
use serde_json::json;

use crate::world::{CUSTOMER, MONTH, TRIAL, World, operator, purchase};

#[tokio::test]
async fn an_order_is_placed_read_and_withdrawn() {
    let world = World::new().await;
    let placed = world.post("/v1/admin/orders", "one", &purchase(MONTH)).await;
    assert_eq!(placed.status, 201);
    assert!(placed.headers.contains_key("position"));
    let order = placed.json();
    for (field, value) in [
        ("state", json!("pending")),
        ("operation", json!("purchase")),
        ("customerId", json!(CUSTOMER)),
        ("currency", json!("RUB")),
        ("subtotalMinor", json!(29_900)),
        ("externalMinor", json!(29_900)),
        ("paidMinor", json!(0)),
        ("createdAt", json!("2026-03-01T12:00:00Z")),
        ("expiresAt", json!("2026-03-01T13:00:00Z")),
    ] {
        assert_eq!(order[field], value, "{field}");
    }

    let repeated = world.post("/v1/admin/orders", "one", &purchase(MONTH)).await;
    assert_eq!((repeated.status, repeated.json()), (placed.status, order.clone()));
    let reused = world.post("/v1/admin/orders", "one", &purchase(TRIAL)).await;
    assert_eq!(
        (reused.status.as_u16(), reused.code().as_str()),
        (422, "idempotency_key_reused")
    );

    let path = format!("/v1/admin/orders/{}", order["id"].as_str().unwrap());
    assert_eq!(world.get(&path).await.json(), order);
    let cancelled = world
        .post(
            &format!("{path}/cancel"),
            "two",
            &json!({ "reason": "changed their mind" }),
        )
        .await;
    assert_eq!(cancelled.json()["state"], "cancelled");
    assert_eq!(
        world.count("select count(*) from events where event_type = 'order.cancelled' and metadata ->> 'reason' = 'changed their mind' and metadata ->> 'actor' = 'operator:bearer'").await,
        1
    );
}

#[tokio::test]
async fn the_same_key_and_body_on_another_path_is_another_request() {
    let world = World::new().await;
    let (one, two) = (world.order("one", MONTH).await, world.order("two", MONTH).await);
    let reason = json!({ "reason": "because" });
    assert_eq!(
        world
            .post(&format!("/v1/admin/orders/{one}/cancel"), "same", &reason)
            .await
            .status,
        200
    );
    let other = world
        .post(&format!("/v1/admin/orders/{two}/cancel"), "same", &reason)
        .await;
    assert_eq!(other.code(), "idempotency_key_reused");
}

#[tokio::test]
async fn refusals_carry_the_codes_of_the_surface() {
    let world = World::new().await;
    let absent = "/v1/admin/orders/01960000-0000-7000-8000-00000000dead";
    let answer = world.get(absent).await;
    assert_eq!(
        (answer.status.as_u16(), answer.code().as_str()),
        (404, "order_not_found")
    );
    let answer = world
        .post(&format!("{absent}/cancel"), "a", &json!({ "reason": "x" }))
        .await;
    assert_eq!(
        (answer.status.as_u16(), answer.code().as_str()),
        (404, "order_not_found")
    );

    let paid = world.order("free", TRIAL).await;
    let answer = world
        .post(
            &format!("/v1/admin/orders/{paid}/cancel"),
            "b",
            &json!({ "reason": "x" }),
        )
        .await;
    assert_eq!(
        (answer.status.as_u16(), answer.code().as_str()),
        (409, "order_cancellation_rejected")
    );
    let answer = world
        .post(
            &format!("/v1/admin/orders/{paid}/cancel"),
            "c",
            &json!({ "reason": " " }),
        )
        .await;
    assert_eq!(
        (answer.status.as_u16(), answer.code().as_str()),
        (400, "invalid_request")
    );

    let mut unknown = purchase(MONTH);
    unknown["planVersionId"] = json!("01960000-0000-7000-8000-00000000dead");
    let answer = world.post("/v1/admin/orders", "d", &unknown).await;
    assert_eq!(
        (answer.status.as_u16(), answer.code().as_str()),
        (404, "plan_unavailable")
    );
    let mut targetless = purchase(MONTH);
    targetless["operation"] = json!("extension");
    let answer = world.post("/v1/admin/orders", "e", &targetless).await;
    assert_eq!(
        (answer.status.as_u16(), answer.code().as_str()),
        (422, "subscription_target_required")
    );
}

#[tokio::test]
async fn old_spellings_of_ids_are_the_same_request() {
    let world = World::new().await;
    let placed = world.post("/v1/admin/orders", "one", &purchase(MONTH)).await;
    let old = json!({ "customerID": CUSTOMER, "currency": "RUB", "operation": "purchase", "planVersionID": MONTH });
    assert_eq!(world.post("/v1/admin/orders", "one", &old).await.json(), placed.json());
}

#[tokio::test]
async fn the_list_says_how_far_it_has_followed_and_waits_when_asked() {
    let world = World::new().await;
    let id = world.order("one", MONTH).await;
    let empty = world.get("/v1/admin/orders?limit=9999").await;
    assert_eq!(
        (empty.status.as_u16(), empty.json()),
        (200, json!({ "items": [], "position": 0 }))
    );
    let ask = |position: &str| {
        operator("GET", "/v1/admin/orders?state=pending")
            .header("if-position-at-least", position)
            .body(Body::empty())
            .unwrap()
    };
    let behind = world.send(ask("1")).await;
    assert_eq!(
        (behind.status.as_u16(), behind.code().as_str()),
        (412, "position_not_reached")
    );
    assert_eq!(world.send(ask("soon")).await.code(), "invalid_request");
    assert_eq!(world.get("/v1/admin/orders?state=lost").await.code(), "invalid_state");
    assert_eq!(world.get("/v1/admin/orders?colour=red").await.code(), "invalid_request");

    // What the projection does, while the reader waits.
    let follow = async {
        tokio::time::sleep(std::time::Duration::from_millis(200)).await;
        sqlx::query(
            "insert into read.orders (order_id, customer_id, operation, state, currency, subtotal_minor, discount_minor,
                 wallet_minor, external_minor, paid_minor, expires_at, created_at, last_position, entitlement_id, subscription_id)
             select aggregate_id::uuid, (payload ->> 'customerId')::uuid, 'purchase', 'pending', 'RUB', 29900, 0, 0, 29900, 0,
                    (payload ->> 'expiresAt')::timestamptz, (payload ->> 'at')::timestamptz, position,
                    (payload -> 'item' ->> 'entitlementId')::uuid, (payload -> 'item' ->> 'subscriptionId')::uuid from events",
        )
        .execute(&world.pool)
        .await
        .unwrap();
        sqlx::query("insert into projection_checkpoints (name, position) values ('orders', 1)")
            .execute(&world.pool)
            .await
            .unwrap();
    };
    let (answer, ()) = tokio::join!(world.send(ask("1")), follow);
    assert_eq!(answer.status, 200);
    assert_eq!(answer.headers["position"], "1");
    let list = answer.json();
    assert_eq!(
        list["items"][0],
        world.get(&format!("/v1/admin/orders/{id}")).await.json()
    );
}
