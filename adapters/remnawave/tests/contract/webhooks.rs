//! Webhooks of the panel: the fixed vector with everything that must be refused, and one that really came over the wire.

use std::sync::{Arc, Mutex};

use chrono::TimeDelta;
use ports::panel::PanelWriter as _;
use remnawave::webhook::{self, WebhookError};
use sandbox::panel::Knobs;
use secrets::{Secret, digest};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
};

use crate::rig::{Rig, start_time};

const SECRET: &str = "0123456789abcdef0123456789abcdef";
const BODY: &[u8] = br#"{"a":1}"#;
const SIGNATURE: &[u8] = b"f0546246da9e2349100c845a8561214788d75d900f3c086a72fcfa03bb1f42ab";

#[test]
fn the_fixed_vector() {
    assert_eq!(webhook::verify(&SECRET.into(), &[SIGNATURE], BODY), Ok(()));
}

/// What is wrong, the secret, the headers, the body.
type Case<'a> = (&'a str, &'a str, &'a [&'a [u8]], &'a [u8]);

#[test]
fn everything_else_is_refused() {
    let upper = SIGNATURE.to_ascii_uppercase();
    let wrong = [b'0'; 64];
    let cases: &[Case<'_>] = &[
        ("one byte of the body changed", SECRET, &[SIGNATURE], br#"{"a":2}"#),
        ("body written anew with spaces", SECRET, &[SIGNATURE], br#"{ "a": 1 }"#),
        ("body with a line end", SECRET, &[SIGNATURE], b"{\"a\":1}\n"),
        ("wrong secret", "0123456789abcdef0123456789abcdee", &[SIGNATURE], BODY),
        ("empty secret", "", &[SIGNATURE], BODY),
        ("no header", SECRET, &[], BODY),
        ("empty header", SECRET, &[b""], BODY),
        ("not hex", SECRET, &[&[b'z'; 64]], BODY),
        ("shortened", SECRET, &[&SIGNATURE[..62]], BODY),
        (
            "with a space",
            SECRET,
            &[b" f0546246da9e2349100c845a8561214788d75d900f3c086a72fcfa03bb1f42ab"],
            BODY,
        ),
        ("upper case, refused on purpose: one spelling", SECRET, &[&upper], BODY),
        ("wrong signature", SECRET, &[&wrong], BODY),
        ("two headers, only the second right", SECRET, &[&wrong, SIGNATURE], BODY),
        ("two headers, both right", SECRET, &[SIGNATURE, SIGNATURE], BODY),
    ];
    for (what, secret, signatures, body) in cases {
        let outcome = webhook::verify(&Secret::from(*secret), signatures, body);
        assert_eq!(outcome, Err(WebhookError::InvalidSignature), "{what}");
    }
}

fn signed(body: &str) -> String {
    digest::hex(&digest::hmac_sha256(SECRET.as_bytes(), body.as_bytes()))
}

#[test]
fn authentic_ones_are_read_and_other_times_are_refused() {
    let now = start_time();
    let body_at = |at: chrono::DateTime<chrono::Utc>| {
        serde_json::json!({ "scope": "user", "event": "user.modified", "timestamp": at, "data": { "id": 7 } })
            .to_string()
    };
    let receive = |body: &str| webhook::receive(&SECRET.into(), &[signed(body).as_bytes()], body.as_bytes(), now);
    let hint = receive(&body_at(now)).unwrap();
    assert_eq!((hint.event.as_str(), hint.user_id), ("user.modified", Some(7)));
    assert_eq!(
        hint.key,
        receive(&body_at(now)).unwrap().key,
        "a repeat has the same key"
    );
    for (off, expected) in [
        (TimeDelta::minutes(4), None),
        (TimeDelta::minutes(-4), None),
        (TimeDelta::minutes(6), Some(WebhookError::Stale)),
        (TimeDelta::minutes(-6), Some(WebhookError::Stale)),
        (TimeDelta::days(400), Some(WebhookError::Stale)),
    ] {
        assert_eq!(receive(&body_at(now + off)).err(), expected, "{off}");
    }
    for malformed in [
        r#"{"a":1}"#,
        "[]",
        "",
        "\u{0}",
        r#"{"scope":"user","event":"x","timestamp":"yesterday"}"#,
    ] {
        assert_eq!(receive(malformed).err(), Some(WebhookError::Malformed), "{malformed}");
    }
}

/// Takes one request, answers 200, and gives its head and body.
async fn take_one(listener: &TcpListener) -> (String, Vec<u8>) {
    let (mut stream, _) = listener.accept().await.unwrap();
    let mut raw = Vec::new();
    loop {
        stream.read_buf(&mut raw).await.unwrap();
        let Some(end) = raw.windows(4).position(|four| four == b"\r\n\r\n") else {
            continue;
        };
        let head = String::from_utf8_lossy(&raw[..end]).to_lowercase();
        let length: usize = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length: "))
            .unwrap()
            .trim()
            .parse()
            .unwrap();
        if raw.len() >= end + 4 + length {
            stream
                .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
                .await
                .unwrap();
            return (head, raw[end + 4..end + 4 + length].to_vec());
        }
    }
}

#[tokio::test]
async fn what_the_panel_sends_is_accepted_and_a_duplicate_is_recognised() {
    let rig = Rig::start().await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/hook", listener.local_addr().unwrap());
    let knobs = Knobs {
        webhook_url: Some(url),
        webhook_copies: 2,
        ..Knobs::default()
    };
    rig.control.set_panel_knobs(&knobs).await.unwrap();
    let user = rig.panel.create_user("echoed", "d", &rig.push()).await.unwrap();
    let keys = Arc::new(Mutex::new(Vec::new()));
    for _ in 0..2 {
        let (head, body) = take_one(&listener).await;
        let signature = head
            .lines()
            .find_map(|line| line.strip_prefix("x-remnawave-signature: "))
            .unwrap()
            .to_owned();
        let secret = Secret::from(rig.sandbox.addresses().panel.webhook_secret.as_str());
        let hint = webhook::receive(&secret, &[signature.as_bytes()], &body, rig.now()).unwrap();
        assert_eq!((hint.event.as_str(), hint.user_id), ("user.created", Some(user.id)));
        keys.lock().unwrap().push(hint.key);
    }
    let keys = keys.lock().unwrap();
    assert_eq!(keys[0], keys[1]);
}
