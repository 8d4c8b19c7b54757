//! Who gets in, and what the closed door says.

use axum::{body::Body, http::Request};
use serde_json::json;

use crate::world::{TOKEN, World, operator};

const GUARDED: &[(&str, &str)] = &[
    ("POST", "/v1/admin/orders"),
    ("GET", "/v1/admin/orders"),
    ("GET", "/v1/admin/orders/01960000-0000-7000-8000-000000000001"),
    ("POST", "/v1/admin/orders/01960000-0000-7000-8000-000000000001/cancel"),
    ("POST", "/v1/admin/orders/01960000-0000-7000-8000-000000000001/payments"),
    (
        "POST",
        "/v1/admin/payments/01960000-0000-7000-8000-000000000001/reconcile",
    ),
    (
        "POST",
        "/v1/admin/payments/01960000-0000-7000-8000-000000000001/manual-decision",
    ),
    ("GET", "/v1/admin/jobs"),
    ("POST", "/v1/admin/jobs/1/retry"),
    ("POST", "/v1/admin/jobs/1/cancel"),
    ("GET", "/v1/admin/dead-letters"),
    ("GET", "/v1/admin/operations"),
    ("GET", "/v1/admin/operations/01960000-0000-7000-8000-000000000001"),
    (
        "GET",
        "/v1/admin/operations/01960000-0000-7000-8000-000000000001/history",
    ),
    (
        "POST",
        "/v1/admin/operations/01960000-0000-7000-8000-000000000001/retry",
    ),
    (
        "POST",
        "/v1/admin/operations/01960000-0000-7000-8000-000000000001/cancel",
    ),
    ("GET", "/v1/admin/audit"),
    ("GET", "/v1/admin/audit/export"),
    ("GET", "/v1/admin/outbox"),
    ("GET", "/v1/admin/deliveries"),
    ("GET", "/v1/admin/deliveries/01960000-0000-7000-8000-000000000001"),
    ("GET", "/v1/admin/maintenance"),
    ("PUT", "/v1/admin/maintenance"),
    ("GET", "/v1/admin/fulfillment/drifts"),
    (
        "POST",
        "/v1/admin/deliveries/01960000-0000-7000-8000-000000000001/resolve",
    ),
    ("GET", "/v1/admin/entitlements/01960000-0000-7000-8000-000000000001"),
    (
        "POST",
        "/v1/admin/entitlements/01960000-0000-7000-8000-000000000001/operations",
    ),
    (
        "POST",
        "/v1/admin/entitlements/01960000-0000-7000-8000-000000000001/pause",
    ),
    (
        "POST",
        "/v1/admin/entitlements/01960000-0000-7000-8000-000000000001/resume",
    ),
    (
        "POST",
        "/v1/admin/deliveries/01960000-0000-7000-8000-000000000001/cancel",
    ),
];

#[tokio::test]
async fn every_admin_route_asks_for_the_token_before_anything_else() {
    let world = World::new().await;
    for (method, path) in GUARDED {
        for authorization in [
            None,
            Some("Bearer "),
            Some("Bearer wrong"),
            Some(TOKEN),
            Some("Basic b3A6b3A="),
        ] {
            let mut request = Request::builder().method(*method).uri(*path);
            if let Some(value) = authorization {
                request = request.header("authorization", value);
            }
            let answer = world.send(request.body(Body::from("not even json")).unwrap()).await;
            assert_eq!(
                (answer.status.as_u16(), answer.code().as_str()),
                (401, "unauthorized"),
                "{method} {path}"
            );
        }
    }
}

#[test]
fn the_list_of_guarded_routes_is_whole() {
    let document = serde_json::to_value(api::document()).unwrap();
    let mut described = 0;
    for (path, methods) in document["paths"].as_object().unwrap() {
        for operation in methods.as_object().unwrap().values() {
            let guarded = operation.get("security").is_some();
            assert_eq!(guarded, path.starts_with("/v1/admin/"), "{path}");
            described += usize::from(guarded);
        }
    }
    assert_eq!(described, GUARDED.len());
}

#[tokio::test]
async fn an_empty_token_refuses_everybody() {
    let world = World::with_operator_token("").await;
    for value in ["Bearer ", "Bearer x", ""] {
        let request = Request::builder()
            .uri("/v1/admin/outbox")
            .header("authorization", value);
        assert_eq!(world.send(request.body(Body::empty()).unwrap()).await.status, 401);
    }
}

#[tokio::test]
async fn what_writes_asks_for_a_key() {
    let world = World::new().await;
    for (method, path) in GUARDED {
        let keyless = path.contains("/jobs")
            || path.contains("/admin/operations/")
            || path.ends_with("/reconcile")
            || matches!(*method, "GET" | "PUT");
        if keyless {
            continue;
        }
        for key in [None, Some("short"), Some("with spaces in it"), Some(&*"k".repeat(129))] {
            let mut request = operator(method, path);
            if let Some(key) = key {
                request = request.header("idempotency-key", key);
            }
            let answer = world.send(request.body(Body::from("{}")).unwrap()).await;
            assert_eq!(
                (answer.status.as_u16(), answer.code().as_str()),
                (400, "missing_idempotency_key"),
                "{path}"
            );
        }
    }
}

#[tokio::test]
async fn the_request_id_is_the_callers_when_it_is_harmless() {
    let world = World::new().await;
    let with = |id: &str| {
        operator("GET", "/v1/admin/outbox")
            .header("x-request-id", id)
            .body(Body::empty())
            .unwrap()
    };
    let answer = world.send(with("trace-0123.abc_DEF")).await;
    assert_eq!(answer.headers["x-request-id"], "trace-0123.abc_DEF");
    for id in ["short", "has spaces in it", &"x".repeat(65), "injected\"}quote"] {
        let answer = world.send(with(id)).await;
        let given = answer.headers["x-request-id"].to_str().unwrap();
        assert!(given != id && given.len() == 36, "{given}");
    }
}

#[tokio::test]
async fn what_is_not_there_is_a_problem_too() {
    let world = World::new().await;
    let nowhere = world.get("/v1/admin/nothing").await;
    assert_eq!((nowhere.status.as_u16(), nowhere.code().as_str()), (404, "not_found"));
    let other = world
        .send(operator("DELETE", "/v1/admin/orders").body(Body::empty()).unwrap())
        .await;
    assert_eq!(
        (other.status.as_u16(), other.code().as_str()),
        (405, "method_not_allowed")
    );
    assert!(other.headers.contains_key("allow"));
    let bad_id = world.get("/v1/admin/orders/not-a-uuid").await;
    assert_eq!((bad_id.status.as_u16(), bad_id.code().as_str()), (400, "invalid_order"));
    let bad_job = world
        .post("/v1/admin/jobs/99999999999999999999/retry", "x", &json!({}))
        .await;
    assert_eq!((bad_job.status.as_u16(), bad_job.code().as_str()), (400, "invalid_job"));
}
