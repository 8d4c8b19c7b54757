//! Liveness, readiness, metrics.

use axum::{body::Body, http::Request};
use serde_json::json;

use crate::world::World;

async fn get(world: &World, path: &str) -> crate::world::Answer {
    world
        .send(Request::builder().uri(path).body(Body::empty()).unwrap())
        .await
}

#[tokio::test]
async fn a_process_with_its_database_is_ready() {
    let world = World::new().await;
    for path in ["/livez", "/healthz"] {
        assert_eq!(get(&world, path).await.json()["status"], "ok");
    }
    let ready = get(&world, "/readyz").await;
    assert_eq!(
        (ready.status.as_u16(), ready.json()["status"].as_str()),
        (200, Some("ready"))
    );
    let names: Vec<_> = ready.json()["checks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|check| check["name"].clone())
        .collect();
    assert_eq!(names, [json!("postgres"), json!("outbox")]);
    let metrics = get(&world, "/metrics").await;
    assert_eq!(
        (
            metrics.status.as_u16(),
            metrics.headers["content-type"].to_str().unwrap()
        ),
        (200, "text/plain; version=0.0.4")
    );
}

#[tokio::test]
async fn without_its_database_it_lives_but_is_not_ready() {
    let world = World::new().await;
    world.pool.close().await;
    assert_eq!(get(&world, "/livez").await.status, 200);
    let degraded = get(&world, "/readyz").await;
    let body = degraded.json();
    assert_eq!(
        (degraded.status.as_u16(), body["status"].as_str()),
        (503, Some("degraded"))
    );
    assert_eq!(body["checks"][0]["error"], "unavailable");
    assert_eq!(body["checks"][0]["consecutiveFailures"], 1);
    let answer = world.get("/v1/admin/outbox").await;
    assert_eq!(
        (answer.status.as_u16(), answer.code().as_str()),
        (503, "database_unavailable")
    );
}

/// B53: when nothing publishes, readiness says so.
#[tokio::test]
async fn b53_an_outbox_that_nobody_empties_is_told() {
    let world = World::new().await;
    world.order("free", crate::world::TRIAL).await;
    sqlx::query("update outbox set created_at = now() - interval '10 minutes'")
        .execute(&world.pool)
        .await
        .unwrap();
    let degraded = get(&world, "/readyz").await.json();
    assert_eq!(degraded["checks"][1]["healthy"], false);
    let backlog = world.get("/v1/admin/outbox").await.json();
    assert_eq!(backlog["pendingCount"], 2);
    assert!((600..660).contains(&backlog["oldestAgeSeconds"].as_i64().unwrap()));
}
