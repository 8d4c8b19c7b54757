//! What clients were promised, kept as files. `cargo test -p api -- --ignored rewrite` writes them anew; the difference is the review.

use std::{fs, path::PathBuf};

use serde_json::{Map, Value, json};

use crate::maintenance::put;
use crate::world::{MONTH, TRIAL, World, purchase};

fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("golden").join(name)
}

fn text(value: &Value) -> String {
    format!("{}\n", serde_json::to_string_pretty(value).unwrap())
}

fn document() -> Value {
    serde_json::to_value(api::document()).unwrap()
}

/// One problem of each kind that callers meet, without what changes from run to run.
#[expect(clippy::too_many_lines, reason = "one request a problem, told in one piece")]
async fn problems() -> Value {
    let world = World::new().await;
    world.order("taken", MONTH).await;
    let paid = world.order("free", TRIAL).await;
    let answers = [
        (
            "order_not_found",
            world.get("/v1/admin/orders/01960000-0000-7000-8000-00000000dead").await,
        ),
        ("invalid_order", world.get("/v1/admin/orders/x").await),
        ("invalid_state", world.get("/v1/admin/jobs?state=x").await),
        (
            "idempotency_key_reused",
            world.post("/v1/admin/orders", "taken", &purchase(TRIAL)).await,
        ),
        (
            "order_cancellation_rejected",
            world
                .post(
                    &format!("/v1/admin/orders/{paid}/cancel"),
                    "c",
                    &json!({ "reason": "x" }),
                )
                .await,
        ),
        (
            "payment_not_required",
            world
                .post(
                    &format!("/v1/admin/orders/{paid}/payments"),
                    "p",
                    &json!({ "provider": "manual" }),
                )
                .await,
        ),
        (
            "job_mutation_rejected",
            world.post("/v1/admin/jobs/1/retry", "j", &json!({})).await,
        ),
        (
            "operation_not_found",
            world
                .get("/v1/admin/operations/01960000-0000-7000-8000-00000000dead")
                .await,
        ),
        ("invalid_cursor", world.get("/v1/admin/audit?cursor=x").await),
        ("missing_operator", put(&world, &json!({ "active": true })).await),
        ("maintenance_active", {
            put(&world, &json!({ "active": true, "operatorId": "anna" })).await;
            world.post("/v1/admin/orders", "closed", &purchase(MONTH)).await
        }),
    ];
    let mut problems = Map::new();
    for (name, answer) in answers {
        assert_eq!(answer.code(), name);
        let mut problem = answer.json();
        problem["request_id"] = json!("<request id>");
        problems.insert(name.to_owned(), problem);
    }
    Value::Object(problems)
}

#[tokio::test]
async fn the_document_is_the_promised_one() {
    assert_eq!(document()["openapi"], "3.1.0");
    let world = World::new().await;
    let served = world.get("/openapi.json").await.json();
    assert_eq!(served, document());
    assert_eq!(fs::read_to_string(file("openapi.json")).unwrap(), text(&served));
}

#[test]
fn every_operation_has_a_name_of_its_own() {
    let document = document();
    let methods = document["paths"].as_object().unwrap().values();
    let names: Vec<_> = methods
        .flat_map(|methods| methods.as_object().unwrap().values())
        .map(|operation| operation["operationId"].as_str().unwrap())
        .collect();
    let distinct: std::collections::BTreeSet<_> = names.iter().collect();
    assert_eq!(distinct.len(), names.len(), "{names:?}");
}

#[tokio::test]
async fn problems_look_as_promised() {
    assert_eq!(
        fs::read_to_string(file("problems.json")).unwrap(),
        text(&problems().await)
    );
}

#[tokio::test]
#[ignore = "writes the golden files"]
async fn rewrite() {
    fs::write(file("openapi.json"), text(&document())).unwrap();
    fs::write(file("problems.json"), text(&problems().await)).unwrap();
}
