//! Crypto Pay's webhooks: signatures over the raw bytes, and the whole way against its simulator.

use axum::{body::Body, http::Request};
use sandbox::SandboxOptions;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};

use crate::world::{Answer, CRYPTO_TOKEN, MONTH, World};

const DOOR: &str = "/v1/payments/webhooks/cryptobot";

fn sign(body: &[u8]) -> String {
    let key = secrets::sha256(CRYPTO_TOKEN.as_bytes());
    secrets::digest::hex(&secrets::hmac_sha256(&key, body))
}

async fn call(world: &World, body: &[u8], signature: Option<&str>) -> Answer {
    let mut request = Request::post(DOOR).header("content-type", "application/json");
    if let Some(signature) = signature {
        request = request.header("crypto-pay-api-signature", signature);
    }
    world.send(request.body(Body::from(body.to_vec())).unwrap()).await
}

/// B06: a bad signature was only logged, and the payment handled regardless.
#[tokio::test]
async fn b06_only_the_raw_bytes_with_their_signature_are_believed() {
    let world = World::new().await;
    let body = json!({ "update_id": 1, "update_type": "invoice_paid", "request_date": "2026-03-01T12:00:00Z",
        "payload": { "invoice_id": 7, "status": "paid", "currency_type": "fiat", "fiat": "RUB", "amount": "299.00", "hash": "" } });
    let raw = serde_json::to_vec(&body).unwrap();
    let good = sign(&raw);
    let mut changed = raw.clone();
    changed[10] ^= 1;
    let reordered = serde_json::to_vec_pretty(&body).unwrap();
    let mut dropped: Value = body.clone();
    dropped["payload"].as_object_mut().unwrap().remove("hash");
    let dropped = serde_json::to_vec(&dropped).unwrap();
    let other_digit = format!("{}{}", if good.starts_with('0') { '1' } else { '0' }, &good[1..]);

    let forged: [(&[u8], Option<&str>); 8] = [
        (&raw, None),
        (&raw, Some("")),
        (&raw, Some(&other_digit)),
        (&raw, Some(&good[..63])),
        (&raw, Some("zz")),
        (&changed, Some(&good)),
        (&reordered, Some(&good)),
        (&dropped, Some(&good)),
    ];
    for (body, signature) in forged {
        let answer = call(&world, body, signature).await;
        assert_eq!(
            (answer.status.as_u16(), answer.code().as_str()),
            (400, "webhook_rejected"),
            "{signature:?}"
        );
    }
    assert_eq!(world.count("select count(*) from events").await, 0);
    assert_eq!(
        world
            .count("select count(*) from webhook_events where signature_valid or raw_body is not null")
            .await,
        0
    );

    // The genuine call is kept byte for byte.
    assert_eq!(call(&world, &raw, Some(&good)).await.status, 200);
    let kept: Vec<u8> = sqlx::query_scalar("select raw_body from webhook_events where signature_valid")
        .fetch_one(&world.pool)
        .await
        .unwrap();
    assert_eq!(kept, raw);
    let unknown = Request::post("/v1/payments/webhooks/nobody")
        .body(Body::empty())
        .unwrap();
    assert_eq!(world.send(unknown).await.code(), "webhook_rejected");
}

/// The whole way: order, invoice at the simulator, paid there, its webhook over the wire, settled once.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn b01_an_invoice_paid_at_the_provider_settles_once_however_often_it_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let sandbox = sandbox::start(SandboxOptions::new(dir.path())).await.unwrap();
    let addresses = sandbox.addresses().clone();
    let world = World::with_crypto(&addresses.cryptopay).await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let door = format!("http://{}{DOOR}", listener.local_addr().unwrap());
    let server = tokio::spawn(api::serve(listener, world.router.clone(), std::future::pending()));

    let order = world.order("one", MONTH).await;
    let path = format!("/v1/admin/orders/{order}/payments");
    let payment = world
        .post(&path, "pay", &json!({ "provider": "cryptobot" }))
        .await
        .json();
    assert_eq!(payment["status"], "pending", "{payment}");
    let invoice = payment["providerReference"].as_str().unwrap().to_owned();
    let reconcile = format!("/v1/admin/payments/{}/reconcile", payment["id"].as_str().unwrap());

    let control = |path: String| (addresses.control.url.clone(), addresses.control.token.clone(), path);
    let (status, _) = http(
        control("/control/cryptopay/webhook".to_owned()),
        "PUT",
        &json!({ "url": door }),
    )
    .await;
    assert_eq!(status, 204);
    let (status, _) = http(
        control(format!("/control/cryptopay/invoices/{invoice}/pay")),
        "POST",
        &json!({}),
    )
    .await;
    assert_eq!(status, 200);

    let tellers = tell(&control(format!("/control/cryptopay/invoices/{invoice}/webhook")));
    let polled = world.post(&reconcile, "poll", &json!({})).await;
    assert_eq!(
        (polled.status.as_u16(), polled.json()["status"].as_str()),
        (200, Some("succeeded"))
    );
    for answer in tellers.join_all().await {
        assert_eq!(answer, Some(200));
    }
    assert_eq!(
        world.get(&format!("/v1/admin/orders/{order}")).await.json()["state"],
        "paid"
    );
    assert_eq!(
        world
            .count("select count(*) from events where event_type in ('order.paid', 'order.payment_observed')")
            .await,
        2
    );
    assert_eq!(world.count("select count(*) from fulfillment_operations").await, 1);
    assert_eq!(world.count("select count(*) from operator_notices").await, 0);
    assert_eq!(
        world
            .count("select count(*) from webhook_events where status = 'processed'")
            .await,
        1
    );

    server.abort();
    sandbox.stop().await;
}

/// B32: a provider that takes connections and never says a word. Everybody else is served meanwhile, and nobody waits for ever.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn b32_a_provider_that_never_answers_freezes_nothing() {
    let mute = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = sandbox::Endpoint {
        url: format!("http://{}", mute.local_addr().unwrap()),
        token: CRYPTO_TOKEN.to_owned(),
    };
    let listening = tokio::spawn(async move {
        let mut held = Vec::new();
        while let Ok((stream, _)) = mute.accept().await {
            held.push(stream);
        }
    });
    let world = std::sync::Arc::new(World::with_crypto(&endpoint).await);
    let mut paths = Vec::new();
    for number in 0..100 {
        let order = world.order(&format!("order{number}"), MONTH).await;
        paths.push(format!("/v1/admin/orders/{order}/payments"));
    }
    let by_hand = paths[0].clone();
    let mut checkouts = tokio::task::JoinSet::new();
    for (number, path) in paths.into_iter().enumerate() {
        let world = world.clone();
        checkouts.spawn(async move {
            let asked = json!({ "provider": "cryptobot" });
            world.post(&path, &format!("pay{number}"), &asked).await.status.as_u16()
        });
    }
    let asked = "select count(*) from payment_intents where provider = 'cryptobot'";
    while world.count(asked).await < 100 {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    assert_eq!(world.get("/livez").await.status.as_u16(), 200);
    assert_eq!(world.get("/readyz").await.status.as_u16(), 200);
    let other = world.post(&by_hand, "hand", &json!({ "provider": "manual" })).await;
    assert_eq!(other.status.as_u16(), 201, "{other:?}");
    assert!(
        checkouts.try_join_next().is_none(),
        "all of them are still with the provider"
    );
    for status in checkouts.join_all().await {
        assert!(matches!(status, 502..=504), "{status}");
    }
    assert_eq!(
        world
            .count("select count(*) from events where event_type = 'order.paid'")
            .await,
        0
    );
    listening.abort();
}

/// The provider sends its webhook, twenty times at once.
fn tell(target: &(String, String, String)) -> tokio::task::JoinSet<Option<u64>> {
    let mut tellers = tokio::task::JoinSet::new();
    for _ in 0..20 {
        let target = target.clone();
        tellers.spawn(async move { http(target, "POST", &json!({})).await.1["status"].as_u64() });
    }
    tellers
}

/// One request of the control API, without a client library.
async fn http((base, token, path): (String, String, String), method: &str, body: &Value) -> (u16, Value) {
    let host = base.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(host).await.unwrap();
    let body = body.to_string();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {token}\r\ncontent-type: application/json\r\n\
         content-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
    let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    (status, serde_json::from_str(body).unwrap_or(Value::Null))
}
