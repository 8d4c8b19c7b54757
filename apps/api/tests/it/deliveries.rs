//! Digital goods over HTTP: what waits for a person, what is owed back, and the decisions.

use serde_json::{Value, json};

use crate::world::{CUSTOMER, World};

/// A goods order that was paid.
async fn owed(world: &World, key: &str) -> String {
    let order = json!({
        "customerId": CUSTOMER, "currency": "RUB", "operation": "goods", "product": "stars-100",
        "recipient": { "username": "@somebody_w", "telegramUserId": 7 },
    });
    let placed = world.post("/v1/admin/orders", key, &order).await;
    assert_eq!(placed.status, 201, "{placed:?}");
    let id = placed.json()["id"].as_str().unwrap().to_owned();
    let path = format!("/v1/admin/orders/{id}/payments");
    let payment = world
        .post(&path, &format!("pay-{key}"), &json!({ "provider": "manual" }))
        .await
        .json();
    let path = format!("/v1/admin/payments/{}/manual-decision", payment["id"].as_str().unwrap());
    let decision = json!({ "approved": true, "operatorId": "op-1", "reason": "seen on the account" });
    let decided = world.post(&path, &format!("decide-{key}"), &decision).await;
    assert_eq!(decided.status, 200, "{decided:?}");
    id
}

/// Rows of the read model, as the projection would write them; the third is of a delivery that has ended well.
const ROWS: &str = "insert into read.deliveries
    (order_id, customer_id, provider, product_code, state, attempts, failure_class, error_code, refund_owed_minor, currency, owed_at, last_position)
    values ('01960000-0000-7000-8000-0000000000a1', '01960000-0000-7000-8000-00000000c001', 'fragment', 'stars-100', 'needs_review', 1,
            'ambiguous', 'submission_abandoned', 0, 'RUB', '2026-03-01T12:00:00Z', 1),
           ('01960000-0000-7000-8000-0000000000a2', '01960000-0000-7000-8000-00000000c001', 'fragment', 'stars-100', 'failed', 6,
            'retryable', 'attempts_exhausted', 500, 'RUB', '2026-03-01T12:01:00Z', 2),
           ('01960000-0000-7000-8000-0000000000a3', '01960000-0000-7000-8000-00000000c001', 'fragment', 'stars-100', 'delivered', 1,
            null, null, 0, 'RUB', '2026-03-01T12:02:00Z', 3),
           ('01960000-0000-7000-8000-0000000000a4', '01960000-0000-7000-8000-00000000c001', 'fragment', 'stars-100', 'cancelled', 0,
            null, null, 500, 'RUB', '2026-03-01T12:03:00Z', 4)";

fn ends(answer: &Value) -> Vec<String> {
    let items = answer["items"].as_array().unwrap().iter();
    items
        .map(|item| item["orderId"].as_str().unwrap()[34..].to_owned())
        .collect()
}

#[tokio::test]
async fn parked_deliveries_and_debts_are_listed_page_by_page() {
    let world = World::new().await;
    sqlx::query(ROWS).execute(&world.pool).await.unwrap();
    for (state, expected) in [
        ("?state=needs_review", vec!["a1"]),
        ("?state=refund_owed", vec!["a4", "a2"]),
        ("?state=delivered", vec!["a3"]),
        ("", vec!["a4", "a3", "a2", "a1"]),
        // Out of range reads the default.
        ("?limit=0", vec!["a4", "a3", "a2", "a1"]),
    ] {
        let answer = world.get(&format!("/v1/admin/deliveries{state}")).await;
        assert!(answer.headers.contains_key("position"));
        assert_eq!(ends(&answer.json()), expected, "{state}");
    }
    let first = world.get("/v1/admin/deliveries?limit=3").await.json();
    let next = first["next"].as_str().unwrap();
    let second = world
        .get(&format!("/v1/admin/deliveries?limit=3&cursor={next}"))
        .await
        .json();
    assert_eq!((ends(&second), second.get("next")), (vec!["a1".to_owned()], None));
    let debt = world.get("/v1/admin/deliveries?state=refund_owed&limit=1").await.json();
    assert_eq!(
        (&debt["items"][0]["refundOwedMinor"], &debt["items"][0]["currency"]),
        (&json!(500), &json!("RUB"))
    );
    assert_eq!(
        world.get("/v1/admin/deliveries?state=pending").await.code(),
        "invalid_state"
    );
    assert_eq!(
        world.get("/v1/admin/deliveries?cursor=x").await.code(),
        "invalid_cursor"
    );
}

#[tokio::test]
async fn a_delivery_is_shown_without_its_recipient_and_withdrawn_once() {
    let world = World::new().await;
    let id = owed(&world, "goods").await;
    let path = format!("/v1/admin/deliveries/{id}");
    let shown = world.get(&path).await;
    let delivery = shown.json();
    assert_eq!(
        (&delivery["state"], &delivery["decision"], &delivery["attempts"]),
        (&json!("pending"), &json!("cancel"), &json!(0))
    );
    assert_eq!(delivery["history"][0]["event"], "owed");
    assert!(
        !String::from_utf8_lossy(&shown.bytes).contains("somebody"),
        "{delivery}"
    );

    let cancel = format!("{path}/cancel");
    assert_eq!(
        world.post(&cancel, "none", &json!({ "reason": " " })).await.code(),
        "invalid_request"
    );
    let reason = json!({ "reason": "sold by mistake" });
    for key in ["one", "one", "two"] {
        let answer = world.post(&cancel, key, &reason).await;
        assert_eq!(
            (answer.status.as_u16(), &answer.json()["state"]),
            (200, &json!("cancelled"))
        );
        assert_eq!(answer.json()["refundOwedMinor"], delivery["priceMinor"]);
    }
    assert_eq!(
        world
            .count("select count(*) from events where event_type = 'delivery.refund_owed'")
            .await,
        1
    );
    let verdict = json!({ "delivered": true, "reason": "it came" });
    assert_eq!(
        world.post(&format!("{path}/resolve"), "late", &verdict).await.code(),
        "state_conflict"
    );
    let told = world.get(&path).await.json();
    assert_eq!(told["history"][1]["reason"], "sold by mistake");
    assert_eq!(told.get("decision"), None);
    let absent = "/v1/admin/deliveries/01960000-0000-7000-8000-00000000dead";
    assert_eq!(world.get(absent).await.code(), "delivery_not_found");
}
