//! Jobs over HTTP, with the seeds' codes.

use api::{ApiState, health::Health};
use axum::body::Body;
use ports::clock::SystemClock;
use serde_json::{Map, json};
use tower::ServiceExt as _;

use crate::world::{TOKEN, TRIAL, World, operator};

async fn waiting(world: &World) -> i64 {
    world.order("free", TRIAL).await;
    let operation_id = sqlx::query_scalar("select operation_id from fulfillment_operations")
        .fetch_one(&world.pool)
        .await
        .unwrap();
    let queue = world.service.queue().unwrap();
    queue
        .insert(&queue::FulfillmentArgs { operation_id }, &Map::new())
        .await
        .unwrap()
        .id
}

#[tokio::test]
async fn jobs_are_listed_without_their_arguments_and_redacted() {
    let world = World::new().await;
    let id = waiting(&world).await;
    sqlx::query(
        "update river_job set state = 'discarded', finalized_at = now(),
           errors = array[jsonb_build_object('error', 'GET https://panel.example/api?token=abc failed, Bearer abcdefghijkl', 'attempt', 1)]",
    )
    .execute(&world.pool)
    .await
    .unwrap();
    let list = world.get("/v1/admin/jobs").await.json();
    assert_eq!(list["state"], "dead_letter");
    let job = &list["items"][0];
    assert_eq!(
        (job["id"].as_i64(), job["kind"].as_str(), job["errorCount"].as_i64()),
        (Some(id), Some("fulfillment"), Some(1))
    );
    assert!(job.get("args").is_none());
    let error = job["lastError"].as_str().unwrap();
    assert!(
        !error.contains("panel.example") && !error.contains("abcdefghijkl"),
        "{error}"
    );
    for state in [
        "retryable",
        "running",
        "available",
        "scheduled",
        "completed",
        "dead_letter",
    ] {
        assert_eq!(
            world
                .get(&format!("/v1/admin/jobs?state={state}&limit=500"))
                .await
                .status,
            200
        );
    }
    assert_eq!(world.get("/v1/admin/jobs?state=pending").await.code(), "invalid_state");
}

#[tokio::test]
async fn a_job_is_cancelled_once_and_then_refused() {
    let world = World::new().await;
    let id = waiting(&world).await;
    let cancelled = world
        .post(&format!("/v1/admin/jobs/{id}/cancel"), "x", &json!({}))
        .await;
    assert_eq!(
        (cancelled.status.as_u16(), cancelled.json()["state"].as_str()),
        (200, Some("cancelled"))
    );
    for action in ["cancel", "retry"] {
        let answer = world
            .post(&format!("/v1/admin/jobs/{id}/{action}"), "x", &json!({}))
            .await;
        assert_eq!(
            (answer.status.as_u16(), answer.code().as_str()),
            (422, "job_mutation_rejected"),
            "{action}"
        );
    }
    let answer = world.post("/v1/admin/jobs/4040/retry", "x", &json!({})).await;
    assert_eq!((answer.status.as_u16(), answer.code().as_str()), (404, "job_not_found"));
}

#[tokio::test]
async fn a_running_job_is_marked_when_cancelled_and_refused_when_retried() {
    let world = World::new().await;
    let id = waiting(&world).await;
    sqlx::query("update river_job set state = 'running', attempted_at = now()")
        .execute(&world.pool)
        .await
        .unwrap();
    sqlx::query("update fulfillment_operations set status = 'running'")
        .execute(&world.pool)
        .await
        .unwrap();
    let answer = world.post(&format!("/v1/admin/jobs/{id}/retry"), "x", &json!({})).await;
    assert_eq!(
        (answer.status.as_u16(), answer.code().as_str()),
        (422, "job_mutation_rejected")
    );
    let answer = world
        .post(&format!("/v1/admin/jobs/{id}/cancel"), "x", &json!({}))
        .await;
    assert_eq!(
        (answer.status.as_u16(), answer.json()["state"].as_str()),
        (200, Some("running"))
    );
}

#[tokio::test]
async fn a_process_without_a_queue_says_so() {
    let world = World::new().await;
    let bare = service::Service::builder(world.service.store().clone()).build();
    let health = Health::new(Vec::new(), std::sync::Arc::new(SystemClock));
    let router = api::router(ApiState::new(bare, TOKEN.into(), health, None));
    for (method, path) in [
        ("GET", "/v1/admin/jobs"),
        ("POST", "/v1/admin/jobs/1/retry"),
        ("POST", "/v1/admin/jobs/1/cancel"),
    ] {
        let answer = router
            .clone()
            .oneshot(operator(method, path).body(Body::empty()).unwrap())
            .await
            .unwrap();
        assert_eq!(answer.status(), 503, "{path}");
    }
    // No metrics there: the route is absent.
    let answer = router
        .oneshot(operator("GET", "/metrics").body(Body::empty()).unwrap())
        .await
        .unwrap();
    assert_eq!(answer.status(), 404);
}
