//! Entitlements over HTTP: read, changed, paused.

use axum::body::Body;
use serde_json::{Value, json};

use crate::world::{TRIAL, World, operator};

/// A granted entitlement's address.
async fn granted(world: &World) -> String {
    let order = world.order("free", TRIAL).await;
    let order = world.get(&format!("/v1/admin/orders/{order}")).await.json();
    format!("/v1/admin/entitlements/{}", order["entitlementId"].as_str().unwrap())
}

async fn ask(world: &World, path: &str, key: &str, body: Value) -> (u16, Value) {
    let answer = world.post(&format!("{path}/operations"), key, &body).await;
    (answer.status.as_u16(), answer.json())
}

#[tokio::test]
async fn an_operation_is_accepted_once_for_a_key() {
    let world = World::new().await;
    let path = granted(&world).await;
    let body = json!({ "operation": "set_limits", "trafficAllowanceBytes": null, "deviceLimit": 5, "correlationId": "ticket-812" });
    let (status, first) = ask(&world, &path, "one", body.clone()).await;
    assert_eq!(status, 202, "{first}");
    assert_eq!(
        (first["operation"].as_str(), first["status"].as_str()),
        (Some("set_limits"), Some("pending"))
    );
    assert!(path.ends_with(first["entitlementId"].as_str().unwrap()));
    assert_eq!(ask(&world, &path, "one", body).await, (202, first.clone()));
    let other = json!({ "operation": "set_limits", "deviceLimit": 6 });
    let reused = world.post(&format!("{path}/operations"), "one", &other).await;
    assert_eq!(
        (reused.status.as_u16(), reused.code().as_str()),
        (422, "idempotency_key_reused")
    );

    // The stored answer is pruned one day; the key stays with the stream.
    sqlx::query("delete from idempotency_keys")
        .execute(&world.pool)
        .await
        .unwrap();
    let refused = world.post(&format!("{path}/operations"), "one", &other).await;
    assert_eq!(refused.code(), "fulfillment_operation_rejected");
    sqlx::query("delete from idempotency_keys")
        .execute(&world.pool)
        .await
        .unwrap();
    let again = json!({ "operation": "set_limits", "trafficAllowanceBytes": null, "deviceLimit": 5 });
    assert_eq!(ask(&world, &path, "one", again).await, (202, first.clone()));

    let view = world.get(&path).await.json();
    assert_eq!(
        (&view["trafficAllowanceBytes"], &view["deviceLimit"]),
        (&Value::Null, &json!(5))
    );
    assert_eq!((&view["desiredVersion"], &view["access"]), (&json!(2), &json!("open")));
    assert_eq!(view["openOperations"].as_array().unwrap().len(), 2);
    assert_eq!(view["openOperations"][1]["id"], first["id"]);
    let rows =
        "select count(*) from fulfillment_operations where operation = 'set_limits' and correlation_id = 'ticket-812'";
    assert_eq!(world.count(rows).await, 1);
    let announced = "select count(*) from outbox where topic = 'entitlement.operation_opened'";
    assert_eq!(world.count(announced).await, 2);
}

#[tokio::test]
async fn what_cannot_be_asked_is_refused_with_one_code_and_leaves_nothing() {
    let world = World::new().await;
    let path = granted(&world).await;
    let events = world.count("select count(*) from events").await;
    for (number, body) in [
        json!({ "operation": "set_limits", "deviceLimit": -1 }),
        json!({ "operation": "set_limits", "trafficAllowanceBytes": 0 }),
        json!({ "operation": "set_limits" }),
        json!({ "operation": "extend", "endsAt": "2026-03-01T12:00:01Z" }),
        json!({ "operation": "extend" }),
        json!({ "operation": "set_squads", "squadIDs": ["main"] }),
        json!({ "operation": "enable", "deviceLimit": 1 }),
        json!({ "operation": "reconcile", "effectiveAt": "2027-03-01T12:00:01Z" }),
        json!({ "operation": "create" }),
        json!({ "operation": "pause" }),
        json!({ "operation": "teleport" }),
    ]
    .into_iter()
    .enumerate()
    {
        let answer = world
            .post(&format!("{path}/operations"), &format!("bad-{number}"), &body)
            .await;
        assert_eq!(
            (answer.status.as_u16(), answer.code().as_str()),
            (422, "fulfillment_operation_rejected"),
            "{body}"
        );
    }
    for (number, body) in [
        json!({ "operation": "set_limits", "deviceLimit": 99_999_999_999_i64 }),
        json!({ "operation": "set_limits", "deviceLimit": 1.5 }),
        json!({ "operation": "enable", "extra": 1 }),
        json!({ "operation": "enable", "reason": "a\u{7}" }),
        json!({ "operation": "enable", "correlationId": "x".repeat(129) }),
        json!({ "operation": "extend", "endsAt": "2026-03-01 12:00:01" }),
        json!({}),
    ]
    .into_iter()
    .enumerate()
    {
        let answer = world
            .post(&format!("{path}/operations"), &format!("odd-{number}"), &body)
            .await;
        assert_eq!(
            (answer.status.as_u16(), answer.code().as_str()),
            (400, "invalid_request"),
            "{body}"
        );
    }
    assert_eq!(world.count("select count(*) from events").await, events);
}

#[tokio::test]
async fn the_doors_are_shut_and_the_names_are_checked() {
    let world = World::new().await;
    let path = granted(&world).await;
    let nobody = "/v1/admin/entitlements/01960000-0000-7000-8000-00000000dead";
    assert_eq!(world.get(nobody).await.code(), "entitlement_not_found");
    assert_eq!(
        world.get("/v1/admin/entitlements/x").await.code(),
        "invalid_entitlement"
    );
    let enable = json!({ "operation": "enable" });
    assert_eq!(
        world.post(&format!("{nobody}/operations"), "k", &enable).await.code(),
        "entitlement_not_found"
    );
    let keyless = operator("POST", &format!("{path}/operations"))
        .body(Body::from(enable.to_string()))
        .unwrap();
    assert_eq!(world.send(keyless).await.code(), "missing_idempotency_key");
    for (method, end) in [
        ("GET", ""),
        ("POST", "/operations"),
        ("POST", "/pause"),
        ("POST", "/resume"),
    ] {
        let request = axum::http::Request::builder()
            .method(method)
            .uri(format!("{path}{end}"))
            .header("content-type", "application/json")
            .header("idempotency-key", "12345678")
            .body(Body::from("{}"))
            .unwrap();
        assert_eq!(world.send(request).await.code(), "unauthorized", "{method} {end}");
    }
}

#[tokio::test]
async fn a_pause_is_asked_for_with_a_reason_and_ended_once() {
    let world = World::new().await;
    let path = granted(&world).await;
    let (pause, resume) = (format!("{path}/pause"), format!("{path}/resume"));
    let why = json!({ "reason": "on holiday" });
    assert_eq!(world.post(&resume, "early", &why).await.code(), "state_conflict");
    assert_eq!(
        world.post(&pause, "mute", &json!({ "reason": " " })).await.code(),
        "invalid_request"
    );
    let paused = world.post(&pause, "pause", &why).await;
    assert_eq!(
        (paused.status.as_u16(), paused.json()["operation"].as_str()),
        (202, Some("disable"))
    );
    assert_eq!(world.post(&pause, "pause", &why).await.json(), paused.json());
    let again = world.post(&pause, "second", &why).await;
    assert_eq!((again.status.as_u16(), again.code().as_str()), (409, "state_conflict"));
    let view = world.get(&path).await.json();
    assert_eq!(
        (&view["access"], &view["pausedAt"]),
        (&json!("paused"), &json!("2026-03-01T12:00:00Z"))
    );
    let enable = world
        .post(&format!("{path}/operations"), "open", &json!({ "operation": "enable" }))
        .await;
    assert_eq!(
        (enable.status.as_u16(), enable.code().as_str()),
        (409, "state_conflict")
    );
    let resumed = world.post(&resume, "resume", &why).await;
    assert_eq!(resumed.json()["operation"], "enable");
    assert_eq!(world.get(&path).await.json()["access"], "open");
    let told = "select count(*) from events where metadata ->> 'reason' = 'on holiday' and metadata ->> 'actor' = 'operator:bearer'
                and event_type in ('entitlement.paused', 'entitlement.resumed')";
    assert_eq!(world.count(told).await, 2);
    let audited =
        "select count(*) from audit_events where action in ('panel.subscription.pause', 'panel.subscription.resume')";
    assert_eq!(world.count(audited).await, 2);
}

#[tokio::test]
async fn a_reconcile_beside_an_open_one_is_that_one() {
    let world = World::new().await;
    let path = granted(&world).await;
    let body = json!({ "operation": "reconcile" });
    let (status, first) = ask(&world, &path, "one", body.clone()).await;
    assert_eq!((status, &first["operation"]), (202, &json!("reconcile")));
    assert_eq!(ask(&world, &path, "two", body.clone()).await, (202, first));
    assert_eq!(
        world
            .count("select count(*) from fulfillment_operations where operation = 'reconcile'")
            .await,
        1
    );
}

#[tokio::test]
async fn a_planned_change_is_shown_as_planned() {
    let world = World::new().await;
    let path = granted(&world).await;
    let body = json!({ "operation": "disable", "effectiveAt": "2026-03-02T12:00:00Z" });
    let (_, planned) = ask(&world, &path, "plan", body.clone()).await;
    let view = world.get(&path).await.json();
    assert_eq!((&view["access"], &view["desiredVersion"]), (&json!("open"), &json!(1)));
    let expected =
        json!({ "operationId": planned["id"], "operation": "disable", "effectiveAt": "2026-03-02T12:00:00Z" });
    assert_eq!(view["plannedChanges"], json!([expected]));
    let due = "select count(*) from fulfillment_operations where effective_at = '2026-03-02T12:00:00Z'";
    assert_eq!(world.count(due).await, 1);
    let past = json!({ "operation": "disable", "effectiveAt": "2020-03-02T12:00:00Z" });
    ask(&world, &path, "past", past).await;
    assert_eq!(
        world.get(&path).await.json()["access"],
        "disabled",
        "a moment that is past is at once"
    );
}
