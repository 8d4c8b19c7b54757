//! Retention as the use cases see it.

use ports::payments::Status;
use store::retention::Keep;

use crate::world::{World, caller, keyed, refusal};

/// Makes every stored answer old.
const OLD: &str = "update idempotency_keys set created_at = created_at - interval '31 days'";

#[tokio::test]
async fn the_key_of_an_order_never_places_a_second_one_although_its_answer_is_gone() {
    let world = World::new().await;
    let order = world.purchase("month");
    let first = world.place("a", &order).await.unwrap().value;
    let refused = world.place("b", &world.stars("no")).await;
    assert_eq!(refusal(refused).code, "recipient_invalid");
    world.run(OLD).await;
    let swept = world.service.sweep_retention(&Keep::default()).await.unwrap();
    assert_eq!((swept.tables["idempotency_keys"], swept.failed), (2, 0));
    assert_eq!(
        world
            .count("select count(*) from idempotency_keys where shortened")
            .await,
        1
    );
    assert_eq!(world.count("select count(*) from idempotency_keys").await, 1);
    // A second sweep finds nothing more to do to it.
    let again = world.service.sweep_retention(&Keep::default()).await.unwrap();
    assert_eq!(again.removed, 0);

    let cancelled = world
        .service
        .cancel_order(&caller(), &keyed("c", &first.id), first.id.into())
        .await;
    assert_eq!(cancelled.unwrap().value.state, "cancelled");
    let repeated = world.place("a", &order).await.unwrap();
    assert!(repeated.repeated);
    assert_eq!(
        (repeated.value.id, repeated.value.state.as_str()),
        (first.id, "cancelled"),
        "as it is now"
    );
    assert!(matches!(
        world.place("a", &world.purchase("year")).await,
        Err(service::Error::KeyReused)
    ));
    assert_eq!(
        world
            .count("select count(distinct aggregate_id) from events where aggregate_type = 'order'")
            .await,
        1
    );
}

#[tokio::test]
async fn a_repeat_that_races_the_sweep_places_nothing() {
    let world = World::racing().await;
    let order = world.purchase("month");
    let first = world.place("a", &order).await.unwrap().value.id;
    world.run(OLD).await;
    let keep = Keep::default();
    let (swept, repeated) = tokio::join!(world.service.sweep_retention(&keep), world.place("a", &order));
    assert_eq!(swept.unwrap().failed, 0);
    assert_eq!(repeated.unwrap().value.id, first);
    assert_eq!(world.count("select count(*) from events").await, 1);
}

#[tokio::test]
async fn a_step_that_fails_does_not_stop_those_after_it() {
    let world = World::new().await;
    world
        .run("insert into outbox (topic, stream, payload, published_at) values ('t', 's', '{}', now() - interval '8 days')")
        .await;
    world
        .run_as_owner("revoke delete on webhook_events from omniflow_runtime")
        .await;
    let swept = world.service.sweep_retention(&Keep::default()).await.unwrap();
    assert_eq!((swept.failed, swept.removed, swept.tables["outbox"]), (1, 1, 1));
}

#[tokio::test]
async fn nothing_that_tells_of_money_or_access_is_touched() {
    let world = World::new().await;
    let order_id = world.placed("order", &world.purchase("month")).await;
    world.start("pay", order_id, "fakepay").await.unwrap();
    world.pay.set("pay-1", Status::Succeeded);
    world.webhook("pay-1").await.unwrap();
    let facts = "select (select count(*) from events) + (select count(*) from payment_intents)
        + (select count(*) from fulfillment_operations) + (select count(*) from idempotency_keys where shortened or key like '%order')";
    let before = world.count(facts).await;
    let none = Keep {
        outbox_days: 0,
        drift_days: 0,
        attempt_days: 0,
        notice_days: 0,
        ..Keep::default()
    };
    world.run("update webhook_events set retain_until = now()").await;
    world.run("update outbox set published_at = now()").await;
    world.run(OLD).await;
    let swept = world.service.sweep_retention(&none).await.unwrap();
    assert!(
        swept.tables.contains_key("outbox") && swept.tables.contains_key("webhook_events"),
        "{swept:?}"
    );
    assert_eq!(world.count(facts).await, before);
    assert_eq!(world.state(order_id).await, "paid");
}
