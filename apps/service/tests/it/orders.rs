//! Placing, cancelling and expiring.

use chrono::TimeDelta;
use domain::ids::{EntitlementId, OrderId};
use service::{Error, PlaceOrder, Wanted};
use uuid::Uuid;

use crate::world::{World, caller, customer, keyed, refusal};

#[tokio::test]
async fn an_order_is_placed_once_per_key() {
    let world = World::new().await;
    let order = world.purchase("month");
    let first = world.place("a", &order).await.unwrap();
    assert_eq!(
        (first.value.state.as_str(), first.value.external_minor),
        ("pending", 29_900)
    );
    assert!(first.position.is_some() && !first.repeated);

    let again = world.place("a", &order).await.unwrap();
    assert!(again.repeated);
    assert_eq!(again.value, first.value);

    let other = world.purchase("year");
    assert!(matches!(world.place("a", &other).await, Err(Error::KeyReused)));
    assert_eq!(world.count("select count(*) from events").await, 1);
}

#[tokio::test]
async fn twins_of_one_request_get_one_answer() {
    let world = World::new().await;
    let order = world.purchase("month");
    let twins = (0..8).map(|_| world.place("twin", &order));
    let ids: Vec<_> = futures(twins)
        .await
        .into_iter()
        .map(|done| done.unwrap().value.id)
        .collect();
    assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
    assert_eq!(world.count("select count(*) from events").await, 1);
}

#[tokio::test]
async fn an_order_that_costs_nothing_is_born_paid_and_settled() {
    let world = World::new().await;
    let done = world.place("free", &world.purchase("trial")).await.unwrap();
    assert_eq!(done.value.state, "paid");
    assert_eq!(
        world
            .count("select count(*) from fulfillment_operations where status = 'pending' and operation = 'create'")
            .await,
        1
    );
    assert_eq!(
        world
            .count("select count(*) from outbox where topic in ('order.paid', 'entitlement.operation_opened')")
            .await,
        2
    );
}

#[tokio::test]
async fn what_the_catalog_does_not_have_is_refused_and_stays_refused() {
    let world = World::new().await;
    let unknown = PlaceOrder {
        item: Wanted::Purchase {
            plan_version_id: Uuid::from_u128(99).into(),
        },
        ..world.purchase("month")
    };
    for _ in 0..2 {
        assert_eq!(refusal(world.place("gone", &unknown).await).code, "plan_unavailable");
    }
    let euro = PlaceOrder {
        currency: "EUR".parse().unwrap(),
        ..world.purchase("month")
    };
    assert_eq!(refusal(world.place("euro", &euro).await).status, 404);
    assert_eq!(world.count("select count(*) from events").await, 0);
}

#[tokio::test]
async fn only_the_customers_own_subscription_is_extended() {
    let world = World::new().await;
    let placed = world.place("first", &world.purchase("trial")).await.unwrap().value;
    let own = EntitlementId::new(placed.entitlement_id.unwrap());

    let stranger = PlaceOrder {
        customer_id: customer(2),
        ..world.extension(own)
    };
    let missing = world.extension(Uuid::from_u128(5).into());
    let theirs = refusal(world.place("theirs", &stranger).await);
    assert_eq!(theirs, refusal(world.place("missing", &missing).await));

    let longer = world.place("longer", &world.extension(own)).await.unwrap().value;
    assert_eq!(longer.operation, "extension");
    assert_eq!(longer.entitlement_id, placed.entitlement_id);
    assert_eq!(longer.subscription_id, placed.subscription_id);
}

#[tokio::test]
async fn goods_need_the_switch_and_a_recipient_who_stays_out_of_the_log() {
    let off = World::with_goods(false).await;
    assert_eq!(
        refusal(off.place("off", &off.stars("alice_w")).await).code,
        "shop_unavailable"
    );

    let world = World::new().await;
    assert_eq!(
        refusal(world.place("bad", &world.stars("no")).await).code,
        "recipient_invalid"
    );
    let order_id = world.placed("stars", &world.stars("https://t.me/Alice_w")).await;
    assert_eq!(
        world
            .count("select count(*) from delivery_recipients where username = 'Alice_w' and telegram_user_id = 7")
            .await,
        1
    );
    let traces = "select count(*) from events where payload::text ~* 'alice' or metadata::text ~* 'alice'";
    assert_eq!(world.count(traces).await, 0);
    assert_eq!(world.state(order_id).await, "pending");
}

#[tokio::test]
async fn cancelling_withdraws_what_can_be_withdrawn() {
    let world = World::new().await;
    let order_id = world.placed("order", &world.purchase("month")).await;
    let payment = world.start("pay", order_id, "fakepay").await.unwrap();
    for key in ["cancel", "cancel", "again"] {
        let done = world
            .service
            .cancel_order(&caller(), &keyed(key, &order_id), order_id)
            .await
            .unwrap();
        assert_eq!(done.value.state, "cancelled");
    }
    let paid = world.service.reconcile_payment(&caller(), payment.id).await.unwrap();
    assert_eq!(paid.status, "cancelled");
    assert_eq!(
        refusal(world.start("late", order_id, "fakepay").await).code,
        "order_not_payable"
    );
}

#[tokio::test]
async fn a_provider_that_keeps_the_payment_does_not_keep_the_order() {
    let world = World::new().await;
    let order_id = world.placed("order", &world.purchase("month")).await;
    world.start("pay", order_id, "fakepay").await.unwrap();
    world.pay.unavailable.store(true, std::sync::atomic::Ordering::SeqCst);
    let done = world
        .service
        .cancel_order(&caller(), &keyed("cancel", &order_id), order_id)
        .await
        .unwrap();
    assert_eq!(done.value.state, "cancelled");
    assert_eq!(
        world
            .count("select count(*) from payment_intents where status = 'pending'")
            .await,
        1
    );
}

#[tokio::test]
async fn a_paid_order_is_not_cancelled() {
    let world = World::new().await;
    let order_id = world.placed("free", &world.purchase("trial")).await;
    let refused = refusal(
        world
            .service
            .cancel_order(&caller(), &keyed("cancel", &order_id), order_id)
            .await,
    );
    assert_eq!((refused.status, &*refused.code), (409, "order_cancellation_rejected"));
    let nobody = OrderId::new(Uuid::from_u128(404));
    assert_eq!(
        refusal(
            world
                .service
                .cancel_order(&caller(), &keyed("x", &nobody), nobody)
                .await
        )
        .status,
        404
    );
}

#[tokio::test]
async fn the_sweep_closes_what_is_over_and_leaves_what_is_not() {
    let world = World::new().await;
    let over = world.placed("over", &world.purchase("month")).await;
    world.clock.advance(TimeDelta::minutes(30));
    let open = world.placed("open", &world.purchase("month")).await;
    for order_id in [over, open] {
        // What the projection would have written; the second row lags, as a projection may.
        sqlx::query(
            "insert into read.orders (order_id, customer_id, operation, state, currency, subtotal_minor, discount_minor,
                 wallet_minor, external_minor, paid_minor, expires_at, created_at, last_position)
             values ($1, $1, 'purchase', 'pending', 'RUB', 1, 0, 0, 1, 0, $2, $2, 1)",
        )
        .bind(order_id.as_uuid())
        .bind(world.now())
        .execute(&world.pool)
        .await
        .unwrap();
    }
    // The window of the first is over at this very instant.
    world.clock.advance(TimeDelta::minutes(30));
    let report = world.service.expire_orders(&caller(), 10).await.unwrap();
    assert_eq!((report.expired, report.skipped, report.failed), (1, 1, 0));
    assert_eq!(world.state(over).await, "expired");
    assert_eq!(world.state(open).await, "pending");
    assert_eq!(
        refusal(world.start("pay", over, "fakepay").await).code,
        "order_not_payable"
    );
}

/// Runs all at once and gives their outcomes in order.
pub(crate) async fn futures<T>(runs: impl Iterator<Item = impl Future<Output = T>>) -> Vec<T> {
    let mut runs: Vec<_> = runs.map(Box::pin).collect();
    let mut outcomes: Vec<Option<T>> = runs.iter().map(|_| None).collect();
    std::future::poll_fn(|context| {
        let mut waiting = false;
        for (run, outcome) in runs.iter_mut().zip(&mut outcomes) {
            if outcome.is_none() {
                match run.as_mut().poll(context) {
                    std::task::Poll::Ready(done) => *outcome = Some(done),
                    std::task::Poll::Pending => waiting = true,
                }
            }
        }
        if waiting {
            std::task::Poll::Pending
        } else {
            std::task::Poll::Ready(())
        }
    })
    .await;
    outcomes.into_iter().flatten().collect()
}
