//! Bodies of every kind of badness.

use axum::body::Body;
use proptest::{prelude::*, test_runner::TestRunner};
use serde_json::json;

use crate::world::{CUSTOMER, MONTH, World, operator, purchase};

async fn place(world: &World, body: impl Into<Body>, kind: &str) -> crate::world::Answer {
    let request = operator("POST", "/v1/admin/orders").header("idempotency-key", "malformed-0001");
    let mut request = request.body(body.into()).unwrap();
    request.headers_mut().insert("content-type", kind.parse().unwrap());
    world.send(request).await
}

#[tokio::test]
async fn malformed_bodies_are_refused_and_leave_nothing() {
    let world = World::new().await;
    let good = purchase(MONTH).to_string();
    let deep = format!(r#"{{"customerId":{}1{}}}"#, "[".repeat(50_000), "]".repeat(50_000));
    let bodies = [
        String::new(),
        "null".to_owned(),
        "[]".to_owned(),
        "{".to_owned(),
        format!("{good} {good}"),
        good.replace("RUB", "RU\\u0000B"),
        good.replace("RUB", "rub"),
        good.replace("RUB", "ABC"),
        good.replace("\"purchase\"", "\"upgrade\""),
        good.replace("\"purchase\"", "1e400"),
        good.replace(CUSTOMER, "00000000-0000-0000-0000-00000000000g"),
        good.replace('}', r#","promoCode":"X"}"#),
        good.replace('}', r#","product":"stars-100"}"#),
        good.replace('}', r#","entitlementId":99999999999999999999}"#),
        good.replace(
            '}',
            r#","recipient":{"username":"alice_w","telegramUserId":99999999999999999999}}"#,
        ),
        format!(r#"{{"customerId":"{CUSTOMER}","customerId":"{CUSTOMER}"}}"#),
        deep,
    ];
    for body in bodies {
        let answer = place(&world, body.clone(), "application/json").await;
        let shown: String = body.chars().take(120).collect();
        assert_eq!(
            (answer.status.as_u16(), answer.code().as_str()),
            (400, "invalid_request"),
            "{shown}"
        );
    }
    let answer = place(&world, good.clone(), "text/plain").await;
    assert_eq!(answer.code(), "invalid_request");
    assert_eq!(place(&world, good, "application/json; charset=utf-8").await.status, 201);
    assert_eq!(world.count("select count(*) from events").await, 1);
}

#[tokio::test]
async fn a_body_beyond_a_mebibyte_is_refused_on_every_door() {
    let world = World::new().await;
    let large = "x".repeat((1 << 20) + 1);
    let answer = place(&world, large.clone(), "application/json").await;
    assert_eq!(
        (answer.status.as_u16(), answer.code().as_str()),
        (413, "payload_too_large")
    );
    let request = operator("POST", "/v1/payments/webhooks/cryptobot")
        .body(Body::from(large))
        .unwrap();
    let answer = world.send(request).await;
    assert_eq!(
        (answer.status.as_u16(), answer.code().as_str()),
        (413, "payload_too_large")
    );
    assert_eq!(world.count("select count(*) from webhook_events").await, 0);
}

/// Whatever the bytes are, the answer is a problem of the 4xx kind, never a fault.
#[test]
fn no_bytes_are_a_fault_of_ours() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let world = runtime.block_on(World::new());
    let template = json!({ "customerId": CUSTOMER, "currency": "RUB", "operation": "goods", "product": "stars-100",
        "recipient": { "username": "alice_w", "telegramUserId": 1 } })
    .to_string();
    let length = template.len();
    let mutated =
        (0..length, 0..length, prop::collection::vec(any::<u8>(), 0..12)).prop_map(move |(from, to, insert)| {
            let mut bytes = template.clone().into_bytes();
            bytes.splice(from.min(to)..from.max(to), insert);
            bytes
        });
    let bytes = prop_oneof![prop::collection::vec(any::<u8>(), 0..200), mutated];
    let config = ProptestConfig {
        cases: 128,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    TestRunner::new(config)
        .run(&bytes, |bytes| {
            let answer = runtime.block_on(place(&world, bytes, "application/json"));
            prop_assert!(!answer.status.is_server_error(), "{answer:?}");
            if !answer.status.is_success() {
                answer.code();
            }
            Ok(())
        })
        .unwrap();
}
