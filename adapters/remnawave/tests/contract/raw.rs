//! The simulator's own rules, by requests that our client would never send.

use reqwest::{Method, header};
use serde_json::{Value, json};

use crate::rig::Rig;

/// Sends anything; answers status and body, or nothing when the connection was cut.
async fn send(rig: &Rig, method: Method, path: &str, body: Option<Value>, forwarded: bool) -> Option<(u16, Value)> {
    let panel = &rig.sandbox.addresses().panel;
    let tls =
        rustls::ClientConfig::builder_with_provider(std::sync::Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(rustls::RootCertStore::empty())
            .with_no_client_auth();
    let http = reqwest::Client::builder()
        .tls_backend_preconfigured(tls)
        .no_proxy()
        .build()
        .unwrap();
    let mut request = http
        .request(method, format!("{}{path}", panel.url))
        .header(header::AUTHORIZATION, format!("Bearer {}", panel.token));
    if forwarded {
        request = request
            .header("x-forwarded-for", "127.0.0.1")
            .header("x-forwarded-proto", "https");
    }
    if let Some(body) = body {
        request = request.json(&body);
    }
    let answer = request.send().await.ok()?;
    let status = answer.status().as_u16();
    let text = answer.text().await.unwrap();
    Some((status, serde_json::from_str(&text).unwrap_or(Value::Null)))
}

pub(crate) async fn delete(rig: &Rig, id: i64) -> u16 {
    send(rig, Method::DELETE, &format!("/api/users/{id}"), None, true)
        .await
        .unwrap()
        .0
}

async fn create(rig: &Rig, body: Value) -> (u16, Value) {
    send(rig, Method::POST, "/api/users", Some(body), true).await.unwrap()
}

#[tokio::test]
async fn without_proxy_headers_the_socket_is_dropped_before_anything_else() {
    let rig = Rig::start().await;
    assert_eq!(send(&rig, Method::GET, "/api/users/1", None, false).await, None);
    assert_eq!(
        send(&rig, Method::GET, "/api/users/1", None, true).await.unwrap().0,
        404
    );
}

#[tokio::test]
async fn forms_are_checked_without_an_error_code() {
    let rig = Rig::start().await;
    let good = json!({ "username": "good_name", "expireAt": "2030-01-01T00:00:00.123456Z" });
    for (change, value) in [
        ("username", json!("ab")),
        ("username", json!("with.dots")),
        ("username", json!("x".repeat(37))),
        ("username", Value::Null),
        ("expireAt", json!("2030-01-01")),
        ("expireAt", json!(5)),
        ("status", json!("GONE")),
        ("trafficLimitBytes", json!(-1)),
        ("trafficLimitBytes", Value::Null),
        ("trafficLimitStrategy", json!("YEAR")),
        ("telegramId", json!("7")),
        ("description", Value::Null),
        ("tag", json!("lower")),
        ("hwidDeviceLimit", Value::Null),
        ("hwidDeviceLimit", json!(1.5)),
        ("activeInternalSquads", json!(["not-a-uuid"])),
        ("activeInternalSquads", json!("5a1db0c0-0001-4e5a-8b1e-000000000001")),
    ] {
        let mut body = good.clone();
        body[change] = value.clone();
        let (status, answer) = create(&rig, body).await;
        assert_eq!((status, answer.get("errorCode")), (400, None), "{change} {value}");
        assert_eq!(answer["message"], "Validation failed");
    }
    let (status, answer) = create(&rig, good).await;
    assert_eq!(status, 201);
    assert_eq!(answer["response"]["expireAt"], "2030-01-01T00:00:00.123Z");
    assert_eq!(answer["response"]["id"], 1);
    assert_eq!(rig.report().users, 1);
}

#[tokio::test]
async fn patches_follow_the_panels_rules() {
    let rig = Rig::start().await;
    create(
        &rig,
        json!({ "username": "patched", "expireAt": "2030-01-01T00:00:00Z" }),
    )
    .await;
    let patch = async |body: Value| send(&rig, Method::PATCH, "/api/users", Some(body), true).await.unwrap();
    for refused in [
        json!({ "status": "DISABLED" }),
        json!({ "id": 1, "status": "EXPIRED" }),
        json!({ "id": 1, "expireAt": "2001-01-01T00:00:00Z" }),
    ] {
        assert_eq!(patch(refused.clone()).await.0, 400, "{refused}");
    }
    let (_, by_name) = patch(json!({ "username": "patched", "description": "x", "hwidDeviceLimit": 4 })).await;
    assert_eq!(by_name["response"]["description"], "x");
    let (_, nulled) = patch(json!({ "id": 1, "hwidDeviceLimit": null, "description": null })).await;
    assert_eq!(
        (
            &nulled["response"]["hwidDeviceLimit"],
            &nulled["response"]["description"]
        ),
        (&Value::Null, &Value::Null)
    );
    assert_eq!(
        patch(json!({ "id": 1, "status": "DISABLED" })).await.1["response"]["status"],
        "DISABLED"
    );
    assert_eq!(
        patch(json!({ "id": 1, "status": "ACTIVE" })).await.1["response"]["status"],
        "ACTIVE"
    );
    let (status, missing) = patch(json!({ "id": 9, "description": "x" })).await;
    assert_eq!((status, missing["errorCode"].as_str()), (404, Some("A025")));
}

#[tokio::test]
async fn ids_are_coerced_numbers() {
    let rig = Rig::start().await;
    for (id, status, code) in [
        ("0", 400, None),
        ("-1", 400, None),
        ("abc", 400, None),
        ("5a1db0c0-0001-4e5a-8b1e-000000000001", 400, None),
        ("1e3", 404, Some("A063")),
        ("7.5", 404, Some("A063")),
        ("12", 404, Some("A063")),
    ] {
        let (answered, body) = send(&rig, Method::GET, &format!("/api/users/{id}"), None, true)
            .await
            .unwrap();
        assert_eq!((answered, body["errorCode"].as_str()), (status, code), "{id}");
    }
}

#[tokio::test]
async fn lists_streams_and_resolves() {
    let rig = Rig::start().await;
    for index in 0..5 {
        let body =
            json!({ "username": format!("user{index}"), "expireAt": "2030-01-01T00:00:00Z", "telegramId": index % 2 });
        create(&rig, body).await;
    }
    let get = async |path: &str| send(&rig, Method::GET, path, None, true).await.unwrap().1["response"].clone();
    let page = get("/api/users?start=1&size=2").await;
    assert_eq!(
        (page["total"].as_i64(), page["users"][0]["id"].as_i64()),
        (Some(5), Some(2))
    );
    let first = get("/api/users/stream?size=3").await;
    assert_eq!(
        (first["hasMore"].as_bool(), first["nextCursor"].as_str()),
        (Some(true), Some("3"))
    );
    let rest = get("/api/users/stream?size=3&cursor=3").await;
    assert_eq!(
        (rest["hasMore"].as_bool(), &rest["nextCursor"]),
        (Some(false), &Value::Null)
    );
    assert_eq!(
        get("/api/users/stream?telegramId=1").await["users"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
    assert_eq!(get("/api/users/by-username/user3").await["id"], 4);
    let (status, found) = send(
        &rig,
        Method::POST,
        "/api/users/resolve",
        Some(json!({ "username": "user1" })),
        true,
    )
    .await
    .unwrap();
    assert_eq!((status, found["response"]["id"].as_i64()), (200, Some(2)));
    for wrong in [json!({}), json!({ "id": 1, "username": "user1" })] {
        assert_eq!(
            send(&rig, Method::POST, "/api/users/resolve", Some(wrong), true)
                .await
                .unwrap()
                .0,
            400
        );
    }
    let (status, body) = send(&rig, Method::GET, "/api/nonsense", None, true).await.unwrap();
    assert_eq!(
        (status, body["message"].as_str()),
        (404, Some("Cannot GET /api/nonsense"))
    );
}
