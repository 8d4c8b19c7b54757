//! What people decide about goods, and that a decision and a submission never cross: a debt is named once, or something was bought once.

use std::time::Duration;

use chrono::TimeDelta;
use domain::{
    delivery::{FailureClass, State},
    ids::{IdempotencyKey, OrderId},
    money::Money,
};
use ports::ids::{Ids, SystemIds};
use queue::{GoodsDeliveryArgs, Handler, Outcome};
use service::{
    Caller, DeliveryView, Done, Error, KeyedRequest, ResolveDelivery, delivery::SpendCeiling, operators::CancelDelivery,
};
use uuid::Uuid;

use crate::support::{FakeGoods, Shop, Stage};

fn person() -> Caller {
    Caller::new("operator:1", "request-1")
}

/// A key of its own for each request: another person, or another click.
fn keyed(body: &impl serde::Serialize) -> KeyedRequest {
    let key = IdempotencyKey::parse(&SystemIds.next().to_string()).unwrap();
    KeyedRequest::new("operator:1", key, "POST /test", body).unwrap()
}

async fn cancel(stage: &Stage, order: Uuid) -> Result<Done<DeliveryView>, Error> {
    let request = CancelDelivery {
        order_id: OrderId::new(order),
        reason: "the customer asked".to_owned(),
    };
    stage
        .service()
        .cancel_delivery(&person(), &keyed(&request), &request)
        .await
}

async fn resolve(stage: &Stage, order: Uuid, delivered: bool) -> Result<Done<DeliveryView>, Error> {
    let request = ResolveDelivery {
        order_id: OrderId::new(order),
        delivered,
        reason: "asked the gateway".to_owned(),
    };
    stage
        .service()
        .resolve_delivery(&person(), &keyed(&request), &request)
        .await
}

fn code<T: std::fmt::Debug>(outcome: Result<T, Error>) -> String {
    match outcome {
        Err(Error::Refused(refusal)) => refusal.code.into_owned(),
        other => panic!("{other:?}"),
    }
}

const DEBTS: &str = "select count(*) from events where event_type = 'delivery.refund_owed'";

async fn debt(stage: &Stage, order: Uuid) -> Option<i64> {
    stage.delivery(order).await.refund_owed.map(Money::amount_minor)
}

#[tokio::test]
async fn what_was_not_submitted_is_withdrawn_with_its_job_and_the_debt_is_named_once() {
    let stage = Stage::new().await;
    let shop = Shop::of(&stage, FakeGoods::default(), None);
    let order = stage.goods_order().await;
    for _ in 0..2 {
        let done = cancel(&stage, order).await.unwrap().value;
        assert_eq!((done.state.as_str(), done.refund_owed_minor), ("cancelled", 500));
    }
    assert_eq!(stage.count(DEBTS).await, 1);
    assert_eq!(stage.delivery_status(order).await, "cancelled");
    assert_eq!(
        stage
            .count("select count(*) from river_job where state = 'cancelled'")
            .await,
        1
    );
    // Neither the schedule nor a job that was on its way submits it.
    stage.delivery_due(order).await;
    assert_eq!(shop.deliveries.schedule().await.unwrap().due, 0);
    stage
        .queue
        .insert(&GoodsDeliveryArgs { order_id: order }, &serde_json::Map::new())
        .await
        .unwrap();
    assert_eq!(shop.run(&stage, order).await, Ok(Outcome::Done));
    assert!(shop.goods.submitted().is_empty());
    assert_eq!(code(resolve(&stage, order, true).await), "state_conflict");
}

#[tokio::test]
async fn what_may_have_been_bought_cannot_be_withdrawn_and_a_person_finds_out() {
    let stage = Stage::racing().await;
    let shop = Shop::of(&stage, FakeGoods::default(), None);
    let order = stage.goods_order().await;
    let run = shop.fetch(&stage, order).await;
    let job = service::delivery::JobRef {
        job_id: run.job_id,
        attempt: run.attempt,
    };
    shop.deliveries.claim(job, order).await.unwrap();
    assert_eq!(code(cancel(&stage, order).await), "state_conflict");
    sqlx::query("update river_job set state = 'available'")
        .execute(&stage.pool)
        .await
        .unwrap();
    stage.clock.advance(TimeDelta::seconds(121));
    stage.delivery_due(order).await;
    assert_eq!(shop.run(&stage, order).await, Ok(Outcome::Done));
    assert_eq!(
        code(cancel(&stage, order).await),
        "state_conflict",
        "parked: something may have been bought"
    );
    assert_eq!(debt(&stage, order).await, None);

    // Two people say at once that nothing came.
    let (one, other) = tokio::join!(resolve(&stage, order, false), resolve(&stage, order, false));
    assert_eq!(
        (
            one.unwrap().value.refund_owed_minor,
            other.unwrap().value.refund_owed_minor
        ),
        (500, 500)
    );
    assert_eq!(stage.count(DEBTS).await, 1);
    assert_eq!(
        code(resolve(&stage, order, true).await),
        "state_conflict",
        "decided is decided"
    );
    assert!(shop.goods.submitted().is_empty());
    let detail = stage.service().get_delivery(OrderId::new(order)).await.unwrap();
    let told: Vec<_> = detail.history.iter().map(|step| step.event.as_str()).collect();
    assert_eq!(
        told,
        [
            "owed",
            "submission_started",
            "attempt_failed",
            "parked",
            "resolved",
            "refund_owed"
        ]
    );
    assert_eq!((detail.decision, detail.delivery.state.as_str()), (None, "failed"));
}

#[tokio::test]
async fn a_withdrawal_and_a_submission_never_both_happen() {
    let stage = Stage::racing().await;
    let shop = Shop::of(&stage, FakeGoods::default(), None);
    for _ in 0..12 {
        let order_id = stage.goods_order().await;
        let run = shop.fetch(&stage, order_id).await;
        let bought = shop.goods.submitted().len();
        let (ran, cancelled) = tokio::join!(
            shop.jobs.run(run, GoodsDeliveryArgs { order_id }),
            cancel(&stage, order_id)
        );
        ran.unwrap();
        let bought = shop.goods.submitted().len() - bought;
        match cancelled {
            Ok(_) => assert_eq!((bought, debt(&stage, order_id).await), (0, Some(500))),
            Err(_) => assert_eq!((bought, debt(&stage, order_id).await), (1, None)),
        }
    }
}

#[tokio::test]
async fn what_surely_was_not_bought_frees_its_part_of_the_ceiling() {
    let stage = Stage::new().await;
    let ceiling = SpendCeiling {
        amount_minor: 300,
        window: Duration::from_hours(24),
    };
    let shop = Shop::of(&stage, FakeGoods::default(), Some(ceiling));
    let spent = "select coalesce(sum(cost_minor), 0)::bigint from goods_spending where counted";
    let (parked, waiting) = (stage.goods_order().await, stage.goods_order().await);
    shop.goods.fails(FailureClass::Ambiguous, "http_502");
    assert_eq!(shop.run(&stage, parked).await, Ok(Outcome::Done));
    assert_eq!(stage.count(spent).await, 300, "it may have been bought");
    assert_eq!(
        shop.run(&stage, waiting).await,
        Ok(Outcome::Snooze(Duration::from_mins(10)))
    );
    resolve(&stage, parked, false).await.unwrap();
    assert_eq!(stage.count(spent).await, 0);
    stage.delivery_due(waiting).await;
    assert_eq!(shop.run(&stage, waiting).await, Ok(Outcome::Done));
    assert_eq!(stage.delivery(waiting).await.state, State::Delivered);
}

#[tokio::test]
async fn five_refusals_and_then_the_goods_are_six_entries_of_the_log() {
    let stage = Stage::new().await;
    let shop = Shop::of(&stage, FakeGoods::default(), None);
    let order = stage.goods_order().await;
    for minutes in [2, 4, 8, 16, 32] {
        shop.goods.fails(FailureClass::Retryable, "http_429");
        let wait = Duration::from_mins(minutes);
        assert_eq!(shop.run(&stage, order).await, Ok(Outcome::Snooze(wait)));
        stage.clock.advance(TimeDelta::from_std(wait).unwrap());
        stage.delivery_due(order).await;
    }
    assert_eq!(shop.run(&stage, order).await, Ok(Outcome::Done));
    let detail = stage.service().get_delivery(OrderId::new(order)).await.unwrap();
    let ended = detail
        .history
        .iter()
        .filter(|step| step.event == "attempt_failed" || step.event == "delivered");
    let ended: Vec<_> = ended.map(|step| step.attempt).collect();
    assert_eq!(ended, [Some(1), Some(2), Some(3), Some(4), Some(5), Some(6)]);
    assert_eq!((debt(&stage, order).await, stage.count(DEBTS).await), (None, 0));
}

#[tokio::test]
async fn a_refused_token_and_a_low_balance_cost_no_money_and_operators_hear_of_the_balance() {
    let stage = Stage::new().await;
    let shop = Shop::of(&stage, FakeGoods::default(), None);
    let order = stage.goods_order().await;
    shop.goods.fails(FailureClass::ProviderUnavailable, "http_401");
    shop.goods.fails(FailureClass::ProviderBalance, "balance_too_low");
    for wait in [2, 4] {
        assert_eq!(
            shop.run(&stage, order).await,
            Ok(Outcome::Snooze(Duration::from_mins(wait)))
        );
        assert_eq!(debt(&stage, order).await, None, "not early");
        stage.clock.advance(TimeDelta::minutes(5));
        stage.delivery_due(order).await;
    }
    assert_eq!(
        stage
            .count("select count(*) from operator_notices where dedupe_key like 'goods-balance:%'")
            .await,
        1
    );
    assert_eq!(shop.run(&stage, order).await, Ok(Outcome::Done));
    assert_eq!(stage.delivery(order).await.state, State::Delivered);
}

#[tokio::test]
async fn an_unknown_order_has_no_delivery() {
    let stage = Stage::new().await;
    let nobody = Uuid::from_u128(1);
    assert_eq!(code(cancel(&stage, nobody).await), "delivery_not_found");
    let unknown = stage.service().get_delivery(OrderId::new(nobody)).await;
    assert_eq!(code(unknown), "delivery_not_found");
}
