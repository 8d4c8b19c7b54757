//! Calls of providers.

use std::sync::atomic::Ordering;

use ports::payments::Status;
use service::webhooks::{Processed, WebhookCall};

use crate::{
    provider::SIGNED,
    world::{World, caller, refusal},
};

#[tokio::test]
async fn a_bad_signature_leaves_a_digest_and_nothing_else() {
    let world = World::new().await;
    let order_id = world.placed("order", &world.purchase("month")).await;
    world.start("pay", order_id, "fakepay").await.unwrap();
    world.pay.set("pay-1", Status::Succeeded);
    let body = world.pay.call("pay-1");
    for _ in 0..3 {
        let call = WebhookCall {
            provider: "fakepay",
            headers: &[("x-fake-signature", b"bad")],
            body: &body,
        };
        let refused = refusal(world.service.receive_webhook(&caller(), call).await);
        assert_eq!((refused.status, &*refused.code), (400, "webhook_rejected"));
    }
    let rows = "select count(*) from webhook_events where not signature_valid and raw_body is null and payment is null
        and event_key = 'invalid:' || encode(body_sha256, 'hex') and delivery_count = 3";
    assert_eq!(world.count(rows).await, 1);
    assert_eq!(world.state(order_id).await, "pending");
    // A stored forgery is never processed.
    world.run("update webhook_events set next_try_at = now()").await;
    assert_eq!(
        world
            .service
            .process_due_webhooks(&caller(), 10)
            .await
            .unwrap()
            .processed,
        0
    );
}

#[tokio::test]
async fn who_sends_no_webhooks_gets_none_accepted() {
    let world = World::new().await;
    for provider in ["manual", "nobody", "fake\u{0}pay"] {
        let call = WebhookCall {
            provider,
            headers: SIGNED,
            body: b"x",
        };
        assert_eq!(
            refusal(world.service.receive_webhook(&caller(), call).await).code,
            "webhook_rejected"
        );
    }
    assert_eq!(world.count("select count(*) from webhook_events").await, 0);
}

#[tokio::test]
async fn an_authentic_call_that_cannot_be_read_is_kept() {
    let world = World::new().await;
    let call = WebhookCall {
        provider: "fakepay",
        headers: SIGNED,
        body: b"\xff\x00 what",
    };
    let received = world.service.receive_webhook(&caller(), call).await.unwrap();
    assert_eq!(received.processed, Some(Processed::Unreadable));
    assert!(world.service.receive_webhook(&caller(), call).await.unwrap().repeated);
    assert_eq!(
        world
            .count("select count(*) from webhook_events where status = 'failed' and raw_body is not null")
            .await,
        1
    );
}

#[tokio::test]
async fn what_failed_in_between_is_done_by_the_pass() {
    let world = World::new().await;
    let order_id = world.placed("order", &world.purchase("month")).await;
    world.pay.lose_answers.store(true, Ordering::SeqCst);
    world.start("pay", order_id, "fakepay").await.unwrap_err();
    world.pay.set("pay-1", Status::Succeeded);
    world.pay.unavailable.store(true, Ordering::SeqCst);
    // The reference is unknown and the provider cannot be asked: stored, answered, left to the pass.
    let received = world.webhook("pay-1").await.unwrap();
    assert_eq!(received.processed, None);
    world.run("update webhook_events set next_try_at = now()").await;
    let report = world.service.process_due_webhooks(&caller(), 10).await.unwrap();
    assert_eq!((report.processed, report.failed), (0, 1));
    assert_eq!(
        world
            .count("select count(*) from webhook_events where next_try_at > now() + interval '50 seconds'")
            .await,
        1
    );
    world.pay.unavailable.store(false, Ordering::SeqCst);
    world.run("update webhook_events set next_try_at = now()").await;
    let report = world.service.process_due_webhooks(&caller(), 10).await.unwrap();
    assert_eq!((report.processed, report.failed), (1, 0));
    assert_eq!(world.state(order_id).await, "paid");
}

#[tokio::test]
async fn a_call_is_given_up_after_twelve_tries_and_stays_visible() {
    let world = World::new().await;
    world.webhook("pay-404").await.unwrap();
    for _ in 0..20 {
        world
            .run("update webhook_events set next_try_at = now() where next_try_at < 'infinity'")
            .await;
        world.service.process_due_webhooks(&caller(), 10).await.unwrap();
    }
    assert_eq!(
        world.count("select count(*) from webhook_events where attempts = 12 and status = 'failed' and next_try_at = 'infinity'").await,
        1
    );
    assert_eq!(world.count("select count(*) from operator_notices").await, 1);
}

#[tokio::test]
async fn forged_webhooks_are_kept_up_to_a_bound_and_hold_up_no_authentic_one() {
    let world = World::new().await;
    let order_id = world.placed("order", &world.purchase("month")).await;
    world.start("pay", order_id, "fakepay").await.unwrap();
    let forge = |number: u32| {
        let world = &world;
        async move {
            let body = number.to_be_bytes();
            let call = service::webhooks::WebhookCall {
                provider: "fakepay",
                headers: &[("x-fake-signature", b"bad")],
                body: &body,
            };
            assert_eq!(
                refusal(world.service.receive_webhook(&caller(), call).await).code,
                "webhook_rejected"
            );
        }
    };
    let kept = "select count(*) from webhook_events where not signature_valid";
    for number in 0..100 {
        forge(number).await;
    }
    assert_eq!(world.count(kept).await, 30);
    world.pay.set("pay-1", ports::payments::Status::Succeeded);
    world.webhook("pay-1").await.unwrap();
    assert_eq!(world.state(order_id).await, "paid");
    // Another process has a count of its own; what is kept is bounded all the same.
    let other = service::Service::builder(world.service.store().clone())
        .clock(world.service.clock().clone())
        .providers(world.service.providers().clone())
        .build();
    let call = service::webhooks::WebhookCall {
        provider: "fakepay",
        headers: &[("x-fake-signature", b"bad")],
        body: b"another",
    };
    assert_eq!(
        refusal(other.receive_webhook(&caller(), call).await).code,
        "webhook_rejected"
    );
    assert_eq!(world.count(kept).await, 30);
    world.clock.advance(chrono::TimeDelta::minutes(1));
    forge(1_000).await;
    assert_eq!(world.count(kept).await, 31);
    assert_eq!(
        world.count("select count(*) from webhook_events where not signature_valid and retain_until > received_at + interval '1 day'").await,
        0
    );
}
