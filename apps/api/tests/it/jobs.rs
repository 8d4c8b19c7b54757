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
    assert_eq!(job["argsSummary"].as_object().unwrap().len(), 1);
    assert!(job["argsSummary"]["operationId"].is_string());
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
    // A job that is not there, as the seeds have it.
    for action in ["cancel", "retry"] {
        let answer = world
            .post(&format!("/v1/admin/jobs/4040/{action}"), "x", &json!({}))
            .await;
        assert_eq!(
            (answer.status.as_u16(), answer.code().as_str()),
            (422, "job_mutation_rejected")
        );
    }
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
        ("GET", "/v1/admin/dead-letters"),
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

#[tokio::test]
async fn limits_out_of_range_read_the_default_and_pages_follow_each_other() {
    let world = World::new().await;
    sqlx::query(
        "insert into river_job (kind, queue, args, max_attempts, state, finalized_at)
         select 'later', 'default', '{}', 1, 'discarded', now() from generate_series(1, 60)",
    )
    .execute(&world.pool)
    .await
    .unwrap();
    for (limit, expected) in [
        ("0", 50),
        ("201", 50),
        ("x", 50),
        ("-1", 50),
        ("1", 1),
        ("60", 60),
        ("200", 60),
    ] {
        let list = world.get(&format!("/v1/admin/jobs?limit={limit}")).await.json();
        assert_eq!(list["items"].as_array().unwrap().len(), expected, "{limit}");
        assert_eq!(list.get("nextCursor").is_some(), expected < 60, "{limit}");
    }
    let first = world.get("/v1/admin/jobs?limit=40").await.json();
    let cursor = first["nextCursor"].as_str().unwrap();
    let second = world
        .get(&format!("/v1/admin/jobs?limit=40&cursor={cursor}"))
        .await
        .json();
    assert_eq!(second["items"].as_array().unwrap().len(), 20);
    assert!(second["items"][0]["id"].as_i64() < first["items"][39]["id"].as_i64());
    for cursor in ["x", "j1", "a0000000000000001"] {
        let answer = world.get(&format!("/v1/admin/jobs?cursor={cursor}")).await;
        assert_eq!(
            (answer.status.as_u16(), answer.code().as_str()),
            (400, "invalid_cursor")
        );
    }
}

#[tokio::test]
async fn dead_letters_outlive_the_queues_rows_and_tell_no_secret() {
    let world = World::new().await;
    sqlx::query(
        r#"insert into river_job (kind, queue, args, max_attempts, state, finalized_at, errors)
           values ('later', 'default', '{"token": "abcdefgh-planted"}', 1, 'discarded', now() - interval '8 days',
                   array['{"error": "token=abcdefgh-planted", "attempt": 1}'::jsonb])"#,
    )
    .execute(&world.pool)
    .await
    .unwrap();
    world.service.sweep_dead_letters().await.unwrap();
    assert_eq!(world.count("select count(*) from river_job").await, 0);
    let answer = world.get("/v1/admin/dead-letters?open=true").await;
    let list = answer.json();
    let letter = &list["items"][0];
    assert_eq!(
        (
            letter["kind"].as_str(),
            letter["open"].as_bool(),
            letter["lastError"].as_str()
        ),
        (Some("later"), Some(true), Some("token=[redacted]"))
    );
    assert!(!list.to_string().contains("planted"));
    assert_eq!(
        world.get("/v1/admin/dead-letters?state=running").await.code(),
        "invalid_state"
    );
    assert_eq!(
        world.get("/v1/admin/dead-letters?cursor=j1").await.code(),
        "invalid_cursor"
    );
}
