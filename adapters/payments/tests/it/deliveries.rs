//! Webhooks as they travel: signed by the simulator, received over HTTP, verified by the provider; repeated, doubled, overtaking.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use crate::rig::{Rig, request};
use axum::{Router, body::Bytes, extract::State, http::HeaderMap, http::StatusCode, routing::post};
use ports::payments::{Header, PaymentProvider as _, WebhookEvent};
use sandbox::cryptopay::CryptopayKnobs;
use tokio::net::TcpListener;

type Call = (HeaderMap, Bytes);

/// Takes webhooks in; answers 503 as often as told, 200 after that.
#[derive(Clone, Debug, Default)]
struct Receiver(Arc<Mutex<(Vec<Call>, u32)>>);

impl Receiver {
    async fn start(refusals: u32) -> (Self, String) {
        let receiver = Self(Arc::new(Mutex::new((Vec::new(), refusals))));
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}/hook", listener.local_addr().expect("an address"));
        let router = Router::new().route("/hook", post(take)).with_state(receiver.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        (receiver, url)
    }

    fn calls(&self) -> Vec<Call> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).0.clone()
    }

    async fn wait_for(&self, count: usize) -> Vec<Call> {
        for _ in 0..500 {
            if self.calls().len() >= count {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        self.calls()
    }
}

async fn take(State(receiver): State<Receiver>, headers: HeaderMap, body: Bytes) -> StatusCode {
    let mut inner = receiver.0.lock().unwrap_or_else(PoisonError::into_inner);
    inner.0.push((headers, body));
    if inner.1 == 0 {
        return StatusCode::OK;
    }
    inner.1 -= 1;
    StatusCode::SERVICE_UNAVAILABLE
}

fn verified(rig: &Rig, (headers, body): &Call) -> WebhookEvent {
    let headers: Vec<Header<'_>> = headers
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_bytes()))
        .collect();
    rig.provider.verify(&headers, body).expect("signed by the simulator")
}

/// A rig whose webhooks go to a receiver, with `orders` invoices made.
async fn rig(refusals: u32, knobs: CryptopayKnobs, orders: u128) -> (Rig, Receiver, Vec<String>) {
    let rig = Rig::start().await;
    let (receiver, url) = Receiver::start(refusals).await;
    rig.control().set_cryptopay_webhook(Some(&url)).await.expect("set");
    rig.control().set_cryptopay_knobs(&knobs).await.expect("set");
    let mut references = Vec::new();
    for order in 1..=orders {
        references.push(
            rig.provider
                .create(&request(order, 29_900, "RUB"))
                .await
                .expect("an invoice")
                .reference,
        );
    }
    (rig, receiver, references)
}

#[tokio::test]
async fn a_payment_is_told_and_believed() {
    let (rig, receiver, references) = rig(0, CryptopayKnobs::default(), 1).await;
    rig.pay(&references[0]).await;
    let calls = receiver.wait_for(1).await;
    let event = verified(&rig, &calls[0]);
    assert_eq!(event.event_key, format!("invoice_paid:{}", references[0]));
    assert_eq!(
        event.payment,
        rig.provider.poll(&references[0]).await.expect("an answer")
    );
}

#[tokio::test]
async fn a_notice_is_repeated_until_it_is_acknowledged() {
    let (rig, receiver, references) = rig(
        2,
        CryptopayKnobs {
            webhook_retry_ms: 5,
            ..CryptopayKnobs::default()
        },
        1,
    )
    .await;
    rig.pay(&references[0]).await;
    let calls = receiver.wait_for(3).await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(
        receiver.calls().len(),
        3,
        "two refusals, one acknowledgement, nothing after that"
    );
    let keys: Vec<String> = calls.iter().map(|call| verified(&rig, call).event_key).collect();
    assert!(
        keys.iter().all(|key| *key == keys[0]),
        "a repeat is the same event: {keys:?}"
    );
    assert_eq!(rig.report().webhooks_acknowledged, 1);
}

#[tokio::test]
async fn the_tries_are_bounded() {
    let (rig, receiver, references) = rig(
        u32::MAX,
        CryptopayKnobs {
            webhook_retry_ms: 1,
            webhook_tries: 4,
            ..CryptopayKnobs::default()
        },
        1,
    )
    .await;
    rig.pay(&references[0]).await;
    receiver.wait_for(4).await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(receiver.calls().len(), 4);
    assert_eq!(
        (rig.report().webhooks_acknowledged, rig.report().webhooks_given_up),
        (0, 1)
    );
}

#[tokio::test]
async fn doubled_notices_are_one_event() {
    let (rig, receiver, references) = rig(
        0,
        CryptopayKnobs {
            webhook_copies: 5,
            webhook_jitter_ms: 20,
            ..CryptopayKnobs::default()
        },
        1,
    )
    .await;
    rig.pay(&references[0]).await;
    let calls = receiver.wait_for(5).await;
    let keys: std::collections::BTreeSet<String> = calls.iter().map(|call| verified(&rig, call).event_key).collect();
    assert_eq!((calls.len(), keys.len()), (5, 1));
}

#[tokio::test]
async fn notices_can_come_against_their_order() {
    let (rig, receiver, references) = rig(
        0,
        CryptopayKnobs {
            hold_webhooks: true,
            ..CryptopayKnobs::default()
        },
        3,
    )
    .await;
    for reference in &references {
        rig.pay(reference).await;
    }
    assert_eq!(receiver.calls().len(), 0);
    rig.control().release_webhooks(true).await.expect("sent");
    let told: Vec<String> = receiver
        .calls()
        .iter()
        .filter_map(|call| verified(&rig, call).payment)
        .map(|paid| paid.reference)
        .collect();
    assert_eq!(told, references.iter().rev().cloned().collect::<Vec<_>>());
    assert_eq!(rig.report().webhooks_acknowledged, 3);
}

#[tokio::test]
async fn an_owed_notice_survives_a_restart() {
    let (rig, receiver, references) = rig(
        0,
        CryptopayKnobs {
            hold_webhooks: true,
            ..CryptopayKnobs::default()
        },
        1,
    )
    .await;
    rig.pay(&references[0]).await;
    let rig = rig.restart().await;
    let calls = receiver.wait_for(1).await;
    assert_eq!(
        verified(&rig, &calls[0]).event_key,
        format!("invoice_paid:{}", references[0])
    );
}

#[tokio::test]
async fn payers_can_pay_by_themselves() {
    let (rig, receiver, references) = rig(
        0,
        CryptopayKnobs {
            pay_after_ms: Some(10),
            ..CryptopayKnobs::default()
        },
        2,
    )
    .await;
    receiver.wait_for(2).await;
    for reference in &references {
        let seen = rig.provider.poll(reference).await.expect("an answer").expect("known");
        assert_eq!(seen.status, ports::payments::Status::Succeeded);
    }
}
