//! A caller's `traceparent`: handed on when it is well-formed, ignored otherwise, and never a reason to refuse a request.

use axum::body::Body;

use crate::world::{MONTH, World, operator, purchase};

const GOOD: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

/// Places an order with these headers; the trace that its event names.
async fn placed(world: &World, key: &str, headers: &[(&str, &str)]) -> Option<String> {
    let mut request = operator("POST", "/v1/admin/orders").header("idempotency-key", format!("trace-{key}-{key}"));
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let answer = world
        .send(request.body(Body::from(purchase(MONTH).to_string())).unwrap())
        .await;
    assert_eq!(answer.status, 201, "{answer:?}");
    let order = answer.json()["id"].as_str().unwrap().to_owned();
    sqlx::query_scalar(
        "select metadata ->> 'traceparent' from events where aggregate_id = $1 order by position limit 1",
    )
    .bind(order)
    .fetch_one(&world.pool)
    .await
    .unwrap()
}

#[tokio::test]
async fn a_well_formed_one_stands_beside_the_events() {
    let world = World::new().await;
    assert_eq!(
        placed(&world, "one", &[("traceparent", GOOD)]).await.as_deref(),
        Some(GOOD)
    );
    assert_eq!(placed(&world, "two", &[]).await, None);
}

#[tokio::test]
async fn a_malformed_one_and_hostile_state_change_nothing() {
    let world = World::new().await;
    let long = format!("a={}", "x".repeat(60_000));
    for (key, headers) in [
        (
            "zero",
            vec![("traceparent", "00-00000000000000000000000000000000-00f067aa0ba902b7-01")],
        ),
        ("text", vec![("traceparent", "'; drop table events; --")]),
        (
            "upper",
            vec![("traceparent", "00-4BF92F3577B34DA6A3CE929D0E0E4736-00F067AA0BA902B7-01")],
        ),
        ("twice", vec![("traceparent", GOOD), ("traceparent", GOOD)]),
    ] {
        assert_eq!(placed(&world, key, &headers).await, None, "{key}");
    }
    let state = [("traceparent", GOOD), ("tracestate", long.as_str())];
    assert_eq!(placed(&world, "state", &state).await.as_deref(), Some(GOOD));
    let stored = "select count(*) from events where metadata::text like '%xxxx%'";
    assert_eq!(world.count(stored).await, 0);
}
