//! Asking for money.

use std::sync::atomic::Ordering;

use domain::ids::OrderId;
use service::Error;
use uuid::Uuid;

use crate::{
    orders::futures,
    world::{World, caller, refusal},
};

#[tokio::test]
async fn a_payment_is_asked_for_once() {
    let world = World::new().await;
    let order_id = world.placed("order", &world.purchase("month")).await;
    let first = world.start("pay", order_id, "fakepay").await.unwrap();
    assert_eq!((first.status.as_str(), first.amount_minor), ("pending", 29_900));
    assert_eq!(first.provider_reference.as_deref(), Some("pay-1"));
    // The same key, and another key while the first payment is open.
    assert_eq!(world.start("pay", order_id, "fakepay").await.unwrap(), first);
    assert_eq!(world.start("other", order_id, "fakepay").await.unwrap(), first);
    assert_eq!(world.pay.creates.load(Ordering::SeqCst), 1);
    let opened = world.events(order_id).await;
    assert_eq!(opened.iter().filter(|kind| *kind == "order.intent_opened").count(), 1);
}

#[tokio::test]
async fn a_lost_answer_is_found_again_and_never_asked_for_twice() {
    let world = World::new().await;
    let order_id = world.placed("order", &world.purchase("month")).await;
    world.pay.lose_answers.store(true, Ordering::SeqCst);
    assert!(matches!(
        world.start("pay", order_id, "fakepay").await,
        Err(Error::Provider(_))
    ));
    world.pay.lose_answers.store(false, Ordering::SeqCst);
    for key in ["pay", "another"] {
        let found = world.start(key, order_id, "fakepay").await.unwrap();
        assert_eq!(found.provider_reference.as_deref(), Some("pay-1"));
    }
    assert_eq!(world.pay.references(), ["pay-1"]);
}

#[tokio::test]
async fn a_claim_whose_answer_cannot_be_stored_is_let_go_and_not_held_for_its_time() {
    let world = World::new().await;
    let order_id = world.placed("order", &world.purchase("month")).await;
    world
        .run_as_owner(
            "create sequence answers; grant usage on sequence answers to omniflow_runtime;
             create function refuse_the_first() returns trigger language plpgsql as $$ begin
                 if new.status is not null and nextval('answers') = 1 then raise exception 'broken'; end if;
                 return new;
             end $$;
             create trigger broken before update on idempotency_keys for each row execute function refuse_the_first()",
        )
        .await;
    assert!(matches!(
        world.start("pay", order_id, "fakepay").await,
        Err(Error::Store(_))
    ));
    let again = world.start("pay", order_id, "fakepay").await.unwrap();
    assert_eq!(again.provider_reference.as_deref(), Some("pay-1"));
    assert_eq!(world.pay.references(), ["pay-1"]);
}

#[tokio::test]
async fn the_pass_finds_a_lost_answer_too() {
    let world = World::new().await;
    let order_id = world.placed("order", &world.purchase("month")).await;
    world.pay.lose_answers.store(true, Ordering::SeqCst);
    world.start("pay", order_id, "fakepay").await.unwrap_err();
    world.pay.set("pay-1", ports::payments::Status::Succeeded);
    world.run("update payment_intents set next_poll_at = now()").await;
    let report = world.service.reconcile_due_payments(&caller(), 10).await.unwrap();
    assert_eq!((report.polled, report.paid, report.failed), (1, 1, 0));
    assert_eq!(world.state(order_id).await, "paid");
}

#[tokio::test]
async fn twins_of_a_payment_make_one_and_the_rest_may_be_told_to_wait() {
    let world = World::new().await;
    let order_id = world.placed("order", &world.purchase("month")).await;
    world.pay.slow.store(true, Ordering::SeqCst);
    let same = (0..4).map(|_| world.start("twin", order_id, "fakepay"));
    let outcomes = futures(same).await;
    assert_eq!(
        outcomes.iter().filter(|outcome| outcome.is_ok()).count(),
        1,
        "{outcomes:?}"
    );
    assert!(
        outcomes
            .iter()
            .all(|outcome| matches!(outcome, Ok(_) | Err(Error::InProgress))),
        "{outcomes:?}"
    );

    let other = world.placed("order2", &world.purchase("month")).await;
    let keys = ["k1", "k2", "k3"];
    let outcomes = futures(keys.iter().map(|key| world.start(key, other, "fakepay"))).await;
    assert!(outcomes.iter().any(Result::is_ok), "{outcomes:?}");
    assert_eq!(world.pay.references().len(), 2, "{outcomes:?}");
}

#[tokio::test]
async fn refusals_have_names_and_stay() {
    let world = World::new().await;
    let order_id = world.placed("order", &world.purchase("month")).await;
    assert_eq!(
        refusal(world.start("a", order_id, "nobody").await).code,
        "provider_unavailable"
    );
    let dollars = service::PlaceOrder {
        currency: "USD".parse().unwrap(),
        ..world.purchase("month")
    };
    let dollars = world.placed("usd", &dollars).await;
    assert_eq!(
        refusal(world.start("b", dollars, "fakepay").await).code,
        "provider_currency_unsupported"
    );
    let free = world.placed("free", &world.purchase("trial")).await;
    for _ in 0..2 {
        let refused = refusal(world.start("c", free, "fakepay").await);
        assert_eq!((refused.status, &*refused.code), (409, "payment_not_required"));
    }
    let nobody = OrderId::new(Uuid::from_u128(404));
    assert_eq!(
        refusal(world.start("d", nobody, "fakepay").await).code,
        "order_not_found"
    );

    world.pay.refuse.store(true, Ordering::SeqCst);
    assert_eq!(
        refusal(world.start("e", order_id, "fakepay").await).code,
        "payment_rejected"
    );
    world.pay.refuse.store(false, Ordering::SeqCst);
    // The refusal is the answer of its key; another key may try again.
    assert_eq!(
        refusal(world.start("e", order_id, "fakepay").await).code,
        "payment_rejected"
    );
    assert_eq!(world.start("f", order_id, "fakepay").await.unwrap().status, "pending");
}

#[tokio::test]
async fn failing_polls_do_not_keep_others_from_their_turn() {
    let world = World::new().await;
    for number in 0..4 {
        let order_id = world.placed(&format!("o{number}"), &world.purchase("month")).await;
        world.start(&format!("p{number}"), order_id, "fakepay").await.unwrap();
    }
    // Three of them are at a provider that is no longer there: they fail for ever, and stand in front.
    world
        .run("update payment_intents set next_poll_at = now() - interval '1 hour' where provider_reference <> 'pay-4'")
        .await;
    world
        .run("update payment_intents set next_poll_at = now() - interval '1 minute' where provider_reference = 'pay-4'")
        .await;
    world.pay.unavailable.store(true, Ordering::SeqCst);
    let first = world.service.reconcile_due_payments(&caller(), 3).await.unwrap();
    assert_eq!((first.polled, first.failed), (3, 3));
    world.pay.unavailable.store(false, Ordering::SeqCst);
    world.pay.set("pay-4", ports::payments::Status::Succeeded);
    let second = world.service.reconcile_due_payments(&caller(), 3).await.unwrap();
    assert_eq!((second.polled, second.paid), (1, 1));
    let later = "select count(*) from payment_intents where poll_failures = 1 and next_poll_at > now() + interval '110 seconds'";
    assert_eq!(world.count(later).await, 3);
}

#[tokio::test]
async fn a_poll_that_finds_the_end_keeps_it() {
    let world = World::new().await;
    let order_id = world.placed("order", &world.purchase("month")).await;
    let payment = world.start("pay", order_id, "fakepay").await.unwrap();
    world.pay.set("pay-1", ports::payments::Status::Expired);
    let polled = world.service.reconcile_payment(&caller(), payment.id).await.unwrap();
    assert_eq!(polled.status, "expired");
    let manual = world.start("manual", order_id, "manual").await.unwrap();
    assert_eq!(manual.status, "requires_action");
    let refused = refusal(world.service.reconcile_payment(&caller(), manual.id).await);
    assert_eq!((refused.status, &*refused.code), (422, "reconciliation_failed"));
    // The expired one is over: asking again makes a new one.
    assert_eq!(
        world
            .start("pay2", order_id, "fakepay")
            .await
            .unwrap()
            .provider_reference
            .as_deref(),
        Some("pay-2")
    );
}
