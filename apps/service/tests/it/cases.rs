//! Public failures of the trade, as tests. Named by their ids.

use std::sync::atomic::Ordering;

use ports::payments::Status;
use service::webhooks::Processed;

use crate::world::{World, caller};

/// B01: two notifications race, both pass the "already paid?" check, both credit.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn b01_identical_webhooks_and_a_poll_settle_once() {
    let world = std::sync::Arc::new(World::racing().await);
    let order_id = world.placed("order", &world.purchase("month")).await;
    let payment = world.start("pay", order_id, "fakepay").await.unwrap();
    world.pay.set("pay-1", Status::Succeeded);

    let mut tellers = tokio::task::JoinSet::new();
    for teller in 0..21 {
        let world = world.clone();
        tellers.spawn(async move {
            if teller == 10 {
                world
                    .service
                    .reconcile_payment(&caller(), payment.id)
                    .await
                    .map(|payment| payment.status)
            } else {
                let received = world.webhook("pay-1").await?;
                Ok(received
                    .processed
                    .map_or("deferred", |processed| processed.outcome())
                    .to_owned())
            }
        });
    }
    let answers: Vec<_> = tellers.join_all().await.into_iter().map(Result::unwrap).collect();
    assert!(
        answers
            .iter()
            .all(|answer| ["paid", "duplicate", "succeeded"].contains(&answer.as_str())),
        "{answers:?}"
    );
    let settled = "select count(*) from events where event_type in ('order.payment_observed', 'order.paid', 'entitlement.granted', 'entitlement.operation_opened')";
    assert_eq!(world.count(settled).await, 4);
    assert_eq!(world.count("select count(*) from fulfillment_operations").await, 1);
    assert_eq!(
        world
            .count("select count(*) from outbox where topic = 'order.paid'")
            .await,
        1
    );
    assert_eq!(world.count("select count(*) from operator_notices").await, 0);
    assert_eq!(world.state(order_id).await, "paid");
}

/// B03: the provider has the payment, our transaction that stores its reference is gone.
#[tokio::test]
async fn b03_a_webhook_before_our_own_row_asks_the_provider() {
    let world = World::new().await;
    let order_id = world.placed("order", &world.purchase("month")).await;
    world.pay.lose_answers.store(true, Ordering::SeqCst);
    world.start("pay", order_id, "fakepay").await.unwrap_err();
    world.pay.set("pay-1", Status::Succeeded);
    assert_eq!(world.pay.polls.load(Ordering::SeqCst), 0);

    for _ in 0..3 {
        world.webhook("pay-1").await.unwrap();
    }
    assert_eq!(world.pay.polls.load(Ordering::SeqCst), 1);
    assert_eq!(world.state(order_id).await, "paid");
    assert_eq!(
        world
            .count("select count(*) from events where event_type = 'order.paid'")
            .await,
        1
    );
    assert_eq!(
        world
            .count("select count(*) from payment_intents where provider_reference = 'pay-1' and status = 'succeeded'")
            .await,
        1
    );

    let events = world.count("select count(*) from events").await;
    let unknown = world.webhook("pay-404").await.unwrap();
    assert_eq!(unknown.processed, Some(Processed::UnknownPayment));
    assert_eq!(world.count("select count(*) from events").await, events);
    assert_eq!(world.count("select count(*) from operator_notices").await, 1);
}

/// B03, the liar's part: a signed call whose payment the provider does not call paid settles nothing.
#[tokio::test]
async fn b03_what_the_provider_does_not_confirm_settles_nothing() {
    let world = World::new().await;
    let order_id = world.placed("order", &world.purchase("month")).await;
    world.pay.lose_answers.store(true, Ordering::SeqCst);
    world.start("pay", order_id, "fakepay").await.unwrap_err();
    world.pay.set("pay-1", Status::Succeeded);
    let body = world.pay.call("pay-1");
    world.pay.set("pay-1", Status::Pending);
    let call = service::webhooks::WebhookCall {
        provider: "fakepay",
        headers: crate::provider::SIGNED,
        body: &body,
    };
    world.service.receive_webhook(&caller(), call).await.unwrap();
    assert_eq!(world.state(order_id).await, "pending");
}

/// B04: unknown or withdrawn payments are answered with errors and redelivered for ever.
#[tokio::test]
async fn b04_unknown_and_cancelled_payments_are_recorded_and_acknowledged() {
    let world = World::new().await;
    let order_id = world.placed("order", &world.purchase("month")).await;
    world.start("pay", order_id, "fakepay").await.unwrap();
    world.pay.set("pay-1", Status::Cancelled);
    for _ in 0..50 {
        world.webhook("pay-404").await.unwrap();
        world.webhook("pay-1").await.unwrap();
    }
    assert_eq!(
        world
            .count("select count(*) from webhook_events where delivery_count = 50")
            .await,
        2
    );
    assert_eq!(world.count("select count(*) from operator_notices").await, 1);
    assert_eq!(world.state(order_id).await, "pending");
    assert_eq!(
        world
            .count("select count(*) from payment_intents where status = 'cancelled'")
            .await,
        1
    );
}

/// B08: two hundred different webhooks at once, a pool of ten: all are answered, and each settles once.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn b08_a_burst_of_webhooks_settles_each_payment_once() {
    let world = std::sync::Arc::new(World::of(10).await);
    for number in 1..=200 {
        let order_id = world.placed(&format!("o{number}"), &world.purchase("month")).await;
        world.start(&format!("p{number}"), order_id, "fakepay").await.unwrap();
        world.pay.set(&format!("pay-{number}"), Status::Succeeded);
    }
    let mut tellers = tokio::task::JoinSet::new();
    for number in 1..=200 {
        let world = world.clone();
        tellers.spawn(async move { world.webhook(&format!("pay-{number}")).await.map(drop) });
    }
    for answer in tellers.join_all().await {
        answer.unwrap();
    }
    for event in ["order.paid", "order.payment_observed", "entitlement.granted"] {
        let settled: i64 = sqlx::query_scalar("select count(*) from events where event_type = $1")
            .bind(event)
            .fetch_one(&world.pool)
            .await
            .unwrap();
        assert_eq!(settled, 200, "{event}");
    }
}

/// B26: one payment of an order was declined, another one succeeded; the words about them come in any order, and twice.
#[tokio::test]
async fn b26_a_late_failure_notice_changes_nothing_about_a_paid_order() {
    let world = World::new().await;
    let arrivals = (0..4_usize.pow(4))
        .map(|code| [code % 4, code / 4 % 4, code / 16 % 4, code / 64])
        .filter(|turns| (0..4).all(|turn| turns.contains(&turn)));
    let mut histories = 0;
    for turns in arrivals {
        histories += 1;
        let order_id = world.placed(&format!("o{histories}"), &world.purchase("month")).await;
        let declined = format!("pay-{}", 2 * histories - 1);
        let succeeded = format!("pay-{}", 2 * histories);
        world
            .start(&format!("a{histories}"), order_id, "fakepay")
            .await
            .unwrap();
        // A checkout of its own, because the first one can no longer be paid.
        world
            .run("update payment_intents set created_at = '2026-02-01T00:00:00Z' where status = 'pending'")
            .await;
        world
            .start(&format!("b{histories}"), order_id, "fakepay")
            .await
            .unwrap();
        world.pay.set(&declined, Status::Cancelled);
        world.pay.set(&succeeded, Status::Succeeded);
        for turn in turns {
            let told = if turn % 2 == 0 { &declined } else { &succeeded };
            world.webhook(told).await.unwrap();
        }
        assert_eq!(world.state(order_id).await, "paid", "{turns:?}");
        let events = world.events(order_id).await;
        let paid = events.iter().filter(|event| *event == "order.paid").count();
        assert_eq!(paid, 1, "{turns:?}: {events:?}");
    }
    assert_eq!(histories, 24);
    assert_eq!(world.count("select count(*) from fulfillment_operations").await, 24);
}

/// B31: the same wish under two keys is two orders; one key is one order, however often, and never another wish.
#[tokio::test]
async fn b31_a_key_is_one_request_neither_more_nor_less() {
    let world = World::new().await;
    let wish = world.purchase("month");
    let (one, other) = (world.placed("one", &wish).await, world.placed("other", &wish).await);
    assert_ne!(one, other);
    assert_eq!(world.placed("one", &wish).await, one);
    let changed = world.purchase("trial");
    let reused = world.place("one", &changed).await;
    assert!(matches!(reused, Err(service::Error::KeyReused)), "{reused:?}");
    assert_eq!(
        world
            .count("select count(*) from events where event_type = 'order.placed'")
            .await,
        2
    );
}
