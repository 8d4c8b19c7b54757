//! What money does to an order.

use chrono::TimeDelta;
use domain::{money::Money, order::Classification};
use ports::payments::Status;
use service::{OrderView, payments::manual_decision::ManualDecision, webhooks::Processed};

use crate::world::{World, caller, keyed, refusal};

async fn paying(world: &World) -> OrderView {
    let placed = world.place("order", &world.purchase("month")).await.unwrap().value;
    world.start("pay", placed.id.into(), "fakepay").await.unwrap();
    world.pay.set("pay-1", Status::Succeeded);
    placed
}

#[tokio::test]
async fn settling_records_the_work_in_the_same_commit() {
    let world = World::new().await;
    let order = paying(&world).await;
    let received = world.webhook("pay-1").await.unwrap();
    assert_eq!(received.processed, Some(Processed::Payment(Classification::Paid)));
    assert_eq!(world.state(order.id.into()).await, "paid");
    // The operational row says what the event says.
    let agreeing = "select count(*) from fulfillment_operations o
        join events e on e.event_type = 'entitlement.operation_opened'
            and e.payload ->> 'operationId' = o.operation_id::text and (e.payload ->> 'version')::bigint = o.version
            and e.payload ->> 'operation' = o.operation and e.payload ->> 'idempotencyKey' = o.idempotency_key
            and e.payload ->> 'orderId' = o.order_id::text and e.aggregate_id = o.entitlement_id::text
        where o.status = 'pending'";
    assert_eq!(world.count(agreeing).await, 1);
    let announced = "select count(*) from outbox o join events e using (position)
        where (o.topic, e.event_type) in (('order.paid', 'order.paid'), ('entitlement.operation_opened', 'entitlement.operation_opened'))";
    assert_eq!(world.count(announced).await, 2);
    assert_eq!(
        world
            .count("select count(*) from payment_intents where status = 'succeeded'")
            .await,
        1
    );
    assert_eq!(
        world
            .count("select count(*) from webhook_events where status = 'processed'")
            .await,
        1
    );
}

#[tokio::test]
async fn an_extension_lengthens_the_same_entitlement() {
    let world = World::new().await;
    let first = world.place("first", &world.purchase("trial")).await.unwrap().value;
    let longer = world.extension(first.entitlement_id.unwrap().into());
    let longer = world.place("longer", &longer).await.unwrap().value;
    world.start("pay", longer.id.into(), "fakepay").await.unwrap();
    world.pay.set("pay-1", Status::Succeeded);
    world.webhook("pay-1").await.unwrap();
    assert_eq!(world.state(longer.id.into()).await, "paid");
    assert_eq!(
        world
            .count("select count(*) from events where event_type = 'entitlement.extended'")
            .await,
        1
    );
    assert_eq!(
        world
            .count("select count(distinct entitlement_id) from fulfillment_operations")
            .await,
        1
    );
    assert_eq!(
        world
            .count("select count(*) from fulfillment_operations where operation = 'extend'")
            .await,
        1
    );
}

#[tokio::test]
async fn goods_are_owed_for_what_was_paid() {
    let world = World::new().await;
    let order_id = world.placed("stars", &world.stars("alice_w")).await;
    world.start("pay", order_id, "fakepay").await.unwrap();
    world.pay.set("pay-1", Status::Succeeded);
    world.webhook("pay-1").await.unwrap();
    let owed = "select count(*) from events where event_type = 'delivery.owed' and payload -> 'price' ->> 'amountMinor' = '19900'";
    assert_eq!(world.count(owed).await, 1);
    assert_eq!(
        world
            .count("select count(*) from goods_deliveries where status = 'pending'")
            .await,
        1
    );
    assert_eq!(
        world
            .count("select count(*) from outbox where topic = 'delivery.owed'")
            .await,
        1
    );
}

#[tokio::test]
async fn only_the_exact_amount_settles_and_the_rest_is_told_once() {
    let world = World::new().await;
    let order = paying(&world).await;
    let rub = |minor| Money::new(minor, "RUB".parse().unwrap()).unwrap();
    for (amount, classification) in [
        (rub(29_899), Classification::Underpayment),
        (rub(29_901), Classification::Overpayment),
        (
            Money::new(29_900, "USD".parse().unwrap()).unwrap(),
            Classification::CurrencyMismatch,
        ),
    ] {
        world.pay.set_amount("pay-1", amount);
        world.run("delete from webhook_events").await;
        for _ in 0..3 {
            let received = world.webhook("pay-1").await.unwrap();
            let expected = [Some(Processed::Payment(classification)), Some(Processed::Duplicate)];
            assert!(expected.contains(&received.processed), "{received:?}");
        }
        assert_eq!(world.state(order.id.into()).await, "pending");
    }
    assert_eq!(
        world
            .count("select count(*) from operator_notices where kind = 'incident'")
            .await,
        3
    );
    assert_eq!(world.count("select count(*) from fulfillment_operations").await, 0);

    world.pay.set_amount("pay-1", rub(29_900));
    world.run("delete from webhook_events").await;
    world.webhook("pay-1").await.unwrap();
    assert_eq!(world.state(order.id.into()).await, "paid");
}

#[tokio::test]
async fn money_after_the_window_or_the_cancellation_still_settles() {
    let world = World::new().await;
    let late = paying(&world).await;
    world.clock.advance(TimeDelta::hours(2));
    let payment = world.start("look", late.id.into(), "fakepay").await;
    assert_eq!(refusal(payment).code, "order_not_payable");
    world.run("update payment_intents set next_poll_at = now()").await;
    world.service.reconcile_due_payments(&caller(), 10).await.unwrap();
    assert_eq!(world.state(late.id.into()).await, "paid");
    assert_eq!(
        world
            .count(
                "select count(*) from events where payload ->> 'classification' = 'late' and event_type = 'order.paid'"
            )
            .await,
        1
    );

    let withdrawn = world.placed("withdrawn", &world.purchase("month")).await;
    world.start("pay-w", withdrawn, "fakepay").await.unwrap();
    world
        .service
        .cancel_order(&caller(), &keyed("cancel", &withdrawn), withdrawn)
        .await
        .unwrap();
    world.pay.set("pay-2", Status::Succeeded);
    let received = world.webhook("pay-2").await.unwrap();
    assert_eq!(
        received.processed,
        Some(Processed::Payment(Classification::PaidAfterCancellation))
    );
    assert_eq!(world.state(withdrawn).await, "paid");
    assert_eq!(world.count("select count(*) from operator_notices").await, 1);
}

#[tokio::test]
async fn a_second_payment_is_a_duplicate_that_operators_hear_of() {
    let world = World::new().await;
    let order = paying(&world).await;
    let manual = world.start("manual", order.id.into(), "manual").await.unwrap();
    world.webhook("pay-1").await.unwrap();
    let decision = ManualDecision {
        intent_id: manual.id,
        approved: true,
        operator_id: "ann".to_owned(),
        reason: "bank transfer".to_owned(),
    };
    world
        .service
        .manual_decision(&caller(), &keyed("decide", &decision), &decision)
        .await
        .unwrap();
    assert_eq!(
        world
            .count("select count(*) from events where event_type = 'order.paid'")
            .await,
        1
    );
    assert_eq!(
        world
            .count("select count(*) from operator_notices where dedupe_key like '%:duplicate'")
            .await,
        1
    );
}

#[tokio::test]
async fn a_person_decides_once() {
    let world = World::new().await;
    let order_id = world.placed("order", &world.purchase("month")).await;
    let manual = world.start("manual", order_id, "manual").await.unwrap();
    let approve = ManualDecision {
        intent_id: manual.id,
        approved: true,
        operator_id: "ann".to_owned(),
        reason: "bank transfer".to_owned(),
    };
    let first = world
        .service
        .manual_decision(&caller(), &keyed("d1", &approve), &approve)
        .await
        .unwrap()
        .value;
    assert_eq!(first.decision, "approved");
    let second = world
        .service
        .manual_decision(&caller(), &keyed("d2", &approve), &approve)
        .await
        .unwrap();
    assert!(second.repeated);
    assert_eq!(second.value, first);
    let reject = ManualDecision {
        approved: false,
        ..approve.clone()
    };
    let refused = refusal(
        world
            .service
            .manual_decision(&caller(), &keyed("d3", &reject), &reject)
            .await,
    );
    assert_eq!((refused.status, &*refused.code), (422, "manual_decision_rejected"));
    assert_eq!(world.state(order_id).await, "paid");
    assert_eq!(world.count("select count(*) from manual_decisions").await, 1);
    assert_eq!(
        world.count("select count(*) from events where metadata ->> 'reason' = 'bank transfer' and event_type = 'order.paid'").await,
        1
    );
}

#[tokio::test]
async fn a_rejection_leaves_everything_open() {
    let world = World::new().await;
    let order_id = world.placed("order", &world.purchase("month")).await;
    let manual = world.start("manual", order_id, "manual").await.unwrap();
    let reject = ManualDecision {
        intent_id: manual.id,
        approved: false,
        operator_id: "ann".to_owned(),
        reason: "nothing arrived".to_owned(),
    };
    world
        .service
        .manual_decision(&caller(), &keyed("d1", &reject), &reject)
        .await
        .unwrap();
    assert_eq!(world.state(order_id).await, "pending");
    let other = world.start("pay", order_id, "fakepay").await.unwrap();
    let refused = refusal(
        world
            .service
            .manual_decision(
                &caller(),
                &keyed("d4", &other.id),
                &ManualDecision {
                    intent_id: other.id,
                    ..reject
                },
            )
            .await,
    );
    assert_eq!(refused.code, "manual_decision_rejected");
}

/// An order is withdrawn and paid in the same moment: whoever was first, a paid order is never left cancelled, and it counts once.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_cancellation_and_a_webhook_at_once_leave_one_whole_outcome() {
    let world = World::racing().await;
    for round in 1..=12 {
        let order_id = world.placed(&format!("o{round}"), &world.purchase("month")).await;
        world.start(&format!("p{round}"), order_id, "fakepay").await.unwrap();
        let reference = format!("pay-{round}");
        world.pay.set(&reference, Status::Succeeded);
        let key = keyed(&format!("c{round}"), &order_id);
        let caller = caller();
        let cancelling = world.service.cancel_order(&caller, &key, order_id);
        let (cancelled, told) = tokio::join!(cancelling, world.webhook(&reference));
        told.unwrap();
        let events = world.events(order_id).await;
        let count = |event: &str| events.iter().filter(|one| *one == event).count();
        assert_eq!(count("order.paid"), 1, "{events:?}");
        assert_eq!(world.state(order_id).await, "paid", "{events:?}");
        if let Err(refused) = cancelled {
            assert_eq!(refused.code(), "order_cancellation_rejected");
            assert_eq!(count("order.cancelled"), 0, "{events:?}");
        }
    }
    assert_eq!(world.count("select count(*) from fulfillment_operations").await, 12);
}
