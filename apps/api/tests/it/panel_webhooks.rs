//! The door for the panel: what is believed, what is stored, and that nothing more than a look comes of it.

use std::time::Instant;

use axum::{body::Body, http::Request};
use chrono::{TimeDelta, Utc};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::world::{Answer, PANEL_SECRET, World};

const PATH: &str = "/v1/panel/webhooks/remnawave";
const USER: i64 = 77;

fn signature(body: &str) -> String {
    secrets::digest::hex(&secrets::digest::hmac_sha256(PANEL_SECRET.as_bytes(), body.as_bytes()))
}

fn body(world: &World, event: &str, user: i64, number: u32) -> String {
    let at = world.service.clock().now();
    json!({ "scope": "user", "event": event, "timestamp": at,
            "data": { "id": user, "subscriptionUrl": "https://sub.example/canary", "trojanPassword": format!("canary{number}") } })
    .to_string()
}

async fn send(world: &World, signature: Option<&str>, body: impl Into<Body>) -> Answer {
    let mut request = Request::post(PATH).header("content-type", "application/json");
    if let Some(signature) = signature {
        request = request.header("x-remnawave-signature", signature);
    }
    world.send(request.body(body.into()).unwrap()).await
}

async fn told(world: &World, body: &str) -> String {
    let answer = send(world, Some(&signature(body)), body.to_owned()).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json()["status"].as_str().unwrap().to_owned()
}

/// An entitlement whose user is known to the panel under `USER`, by a whole settlement and a recorded push.
async fn ours(world: &World) -> (Uuid, Uuid) {
    let entitlement = world.granted_and_shown(USER).await;
    let subscription: Uuid =
        sqlx::query_scalar("select subscription_id from entitlement_checks where remote_user_id = $1")
            .bind(USER)
            .fetch_one(&world.pool)
            .await
            .unwrap();
    (entitlement, subscription)
}

const OPEN: &str = "select count(*) from fulfillment_operations where operation = 'reconcile'";

#[tokio::test]
async fn a_hint_about_a_user_of_ours_has_the_panel_looked_at_once() {
    let world = World::new().await;
    ours(&world).await;
    let events = world.count("select count(*) from events").await;
    let first = body(&world, "user.modified", USER, 1);
    assert_eq!(told(&world, &first).await, "opened");
    assert_eq!(told(&world, &first).await, "duplicate");
    for number in 2..40 {
        assert_eq!(
            told(&world, &body(&world, "user.modified", USER, number)).await,
            "coalesced"
        );
    }
    assert_eq!(world.count(OPEN).await, 1);
    let jobs = "select count(*) from river_job where kind = 'fulfillment' and state = 'scheduled'";
    assert_eq!(world.count(jobs).await, 1);
    assert_eq!(
        world.count("select count(*) from events").await,
        events,
        "a hint is no fact"
    );
    let secret = "select count(*) from webhook_events where raw_body is not null or hint::text like '%canary%'";
    assert_eq!(world.count(secret).await, 0, "the user's keys are not stored");
}

#[tokio::test]
async fn b96_a_hint_while_a_run_is_under_way_waits_for_the_next_look() {
    let world = World::new().await;
    let (_, subscription) = ours(&world).await;
    assert_eq!(told(&world, &body(&world, "user.modified", USER, 1)).await, "opened");
    // Its run has begun: nobody knows whether it looked before the change.
    sqlx::query(
        "update fulfillment_operations set status = 'running' where subscription_id = $1 and operation = 'reconcile'",
    )
    .bind(subscription)
    .execute(&world.pool)
    .await
    .unwrap();
    let began = Instant::now();
    assert_eq!(told(&world, &body(&world, "user.disabled", USER, 2)).await, "deferred");
    assert!(began.elapsed().as_secs() < 5, "the panel is answered at once");
    sqlx::query(
        "update fulfillment_operations set status = 'succeeded', completed_at = now() where operation = 'reconcile'",
    )
    .execute(&world.pool)
    .await
    .unwrap();
    sqlx::query("update webhook_events set next_try_at = now() where status = 'received'")
        .execute(&world.pool)
        .await
        .unwrap();
    let caller = service::Caller::new("system:test", "test");
    let report = world.service.process_due_panel_hints(&caller, 10).await.unwrap();
    assert_eq!((report.processed, report.deferred, report.failed), (1, 0, 0));
    assert_eq!(world.count(OPEN).await, 2);
}

#[tokio::test]
async fn a_look_that_began_after_the_hint_is_enough() {
    let world = World::new().await;
    let (entitlement, _) = ours(&world).await;
    let now = world.service.clock().now();
    sqlx::query("update entitlement_checks set observed_at = $2 where entitlement_id = $1")
        .bind(entitlement)
        .bind(now)
        .execute(&world.pool)
        .await
        .unwrap();
    assert_eq!(told(&world, &body(&world, "user.modified", USER, 1)).await, "coalesced");
    assert_eq!(world.count(OPEN).await, 0);
}

#[tokio::test]
async fn b06_forged_and_misshapen_ones_change_nothing_and_leave_a_digest() {
    let world = World::new().await;
    ours(&world).await;
    let genuine = body(&world, "user.modified", USER, 1);
    let right = signature(&genuine);
    let wrong = "0".repeat(64);
    for signature in [
        None,
        Some(wrong.as_str()),
        Some(""),
        Some(&right[..62]),
        Some(&*right.to_uppercase()),
    ] {
        let answer = send(&world, signature, genuine.clone()).await;
        assert_eq!(
            (answer.status.as_u16(), answer.code().as_str()),
            (400, "webhook_rejected")
        );
    }
    let changed = send(&world, Some(&right), genuine.replace("modified", "deleted")).await;
    assert_eq!(changed.status, 400);
    let doubled = Request::post(PATH)
        .header("x-remnawave-signature", &right)
        .header("x-remnawave-signature", &right)
        .body(Body::from(genuine.clone()))
        .unwrap();
    assert_eq!(world.send(doubled).await.status, 400);
    let rows = "select count(*) from webhook_events where provider = 'remnawave' and not signature_valid
                and raw_body is null and hint is null and status = 'failed' and code = 'signature_invalid'";
    assert_eq!(world.count(rows).await, 2, "one a body");
    for misshapen in ["[]", "{}", "null", r#"{"scope":"user"}"#, "\u{0}"] {
        assert_eq!(told(&world, misshapen).await, "malformed", "{misshapen}");
    }
    let huge = send(&world, Some(&right), vec![b' '; (1 << 20) + 1]).await;
    assert_eq!((huge.status.as_u16(), huge.code().as_str()), (413, "payload_too_large"));
    assert_eq!(world.count(OPEN).await, 0);
    assert_eq!(
        told(&world, &genuine).await,
        "opened",
        "the genuine one is still believed"
    );
}

#[tokio::test]
async fn a_flood_of_forgeries_does_not_fill_the_disk() {
    let world = World::new().await;
    for number in 0..90 {
        let answer = send(&world, Some(&"0".repeat(64)), format!("{number}")).await;
        assert_eq!(answer.status, 400);
    }
    let rows = "select count(*) from webhook_events where not signature_valid";
    assert_eq!(world.count(rows).await, 30);
}

#[tokio::test]
async fn late_strange_and_quiet_ones_are_recorded_and_ignored() {
    let world = World::new().await;
    ours(&world).await;
    let now = world.service.clock().now();
    let told_at = |at: chrono::DateTime<Utc>, event: &str, user: Value| {
        json!({ "scope": "user", "event": event, "timestamp": at, "data": { "id": user } }).to_string()
    };
    let stale = told_at(now - TimeDelta::minutes(6), "user.modified", json!(USER));
    assert_eq!(told(&world, &stale).await, "stale");
    assert_eq!(told(&world, &stale).await, "duplicate");
    let ahead = told_at(now + TimeDelta::minutes(6), "user.modified", json!(USER));
    assert_eq!(told(&world, &ahead).await, "stale");
    for (event, user) in [
        ("user.modified", json!(4711)),
        ("user.modified", json!("77")),
        ("user.modified", Value::Null),
        ("user.modified", json!(i64::MAX)),
        ("user.modified", json!(1e300)),
        ("user.first_connected", json!(USER)),
    ] {
        assert_eq!(
            told(&world, &told_at(now, event, user.clone())).await,
            "ignored",
            "{event} {user}"
        );
    }
    let node =
        json!({ "scope": "node", "event": "node.modified", "timestamp": now, "data": { "id": USER } }).to_string();
    assert_eq!(told(&world, &node).await, "ignored");
    assert_eq!(world.count(OPEN).await, 0);
    assert_eq!(
        world
            .count("select count(*) from webhook_events where status in ('received', 'failed')")
            .await,
        0
    );
}

#[tokio::test]
async fn a_flood_of_hints_stands_behind_those_who_have_paid() {
    let world = World::new().await;
    ours(&world).await;
    sqlx::query(
        "insert into fulfillment_operations (operation_id, entitlement_id, subscription_id, operation, version, idempotency_key, correlation_id)
         select gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'reconcile', 1, 'flood:' || n, 'test' from generate_series(1, 200) n",
    )
    .execute(&world.pool)
    .await
    .unwrap();
    assert_eq!(told(&world, &body(&world, "user.modified", USER, 1)).await, "deferred");
    assert_eq!(world.count(OPEN).await, 200);
}

#[tokio::test]
async fn without_a_secret_there_is_no_door() {
    let world = World::without_panel_secret().await;
    let text = body(&world, "user.modified", USER, 1);
    let answer = send(&world, Some(&signature(&text)), text.clone()).await;
    assert_eq!((answer.status.as_u16(), answer.code().as_str()), (404, "not_found"));
    assert_eq!(world.count("select count(*) from webhook_events").await, 0);
}

#[tokio::test]
async fn open_drifts_are_listed_newest_first_and_by_codes() {
    let world = World::new().await;
    let path = "/v1/admin/fulfillment/drifts";
    assert_eq!(world.get(path).await.json(), json!({ "items": [] }));
    sqlx::query(
        "insert into entitlement_drifts (entitlement_id, subscription_id, kind, expected, observed, status, detected_at, resolved_at)
         select gen_random_uuid(), gen_random_uuid(), 'traffic', '{\"value\": 1}'::jsonb, '{\"value\": null}'::jsonb, 'open', now(), null
           from generate_series(1, 120)
         union all select gen_random_uuid(), gen_random_uuid(), 'status', '{}'::jsonb, '{}'::jsonb, 'resolved', now(), now()",
    )
    .execute(&world.pool)
    .await
    .unwrap();
    for (query, count) in [
        ("", 100),
        ("?limit=500", 120),
        ("?limit=7", 7),
        ("?limit=0", 100),
        ("?limit=501", 100),
        ("?limit=x", 100),
    ] {
        let items = world.get(&format!("{path}{query}")).await.json();
        assert_eq!(items["items"].as_array().unwrap().len(), count, "{query}");
    }
    let first = world.get(path).await.json()["items"][0].clone();
    let mut names: Vec<_> = first.as_object().unwrap().keys().cloned().collect();
    names.sort();
    assert_eq!(
        names,
        ["detectedAt", "entitlementId", "expected", "id", "kind", "observed"]
    );
    assert_eq!(world.get(&format!("{path}?state=open")).await.code(), "invalid_request");
    sqlx::raw_sql("alter table entitlement_drifts rename to gone")
        .execute(&world.owner().await)
        .await
        .unwrap();
    let broken = world.get(path).await;
    assert_eq!(
        (broken.status.as_u16(), broken.code().as_str()),
        (500, "drifts_unavailable")
    );
}
