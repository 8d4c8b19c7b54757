//! Goods are bought at most once, whatever happens between the claim and the record.

use std::time::Duration;

use chrono::TimeDelta;
use domain::{
    delivery::{FailureClass, State, Submission},
    order,
};
use ports::{clock::Clock, goods::AdapterError};
use queue::{GoodsDeliveryArgs, Handler, Outcome};
use service::delivery::{Claim, JobRef, SUBMISSION, SpendCeiling};

use crate::support::{FakeGoods, Shop, Stage};

#[tokio::test]
async fn goods_are_delivered_and_the_order_is_fulfilled() {
    let stage = Stage::new().await;
    let shop = Shop::of(&stage, FakeGoods::default(), None);
    let order = stage.goods_order().await;
    assert_eq!(shop.run(&stage, order).await, Ok(Outcome::Done));
    assert_eq!(shop.goods.submitted(), [format!("goods:{order}")]);
    assert_eq!(stage.delivery(order).await.state, State::Delivered);
    assert_eq!(stage.delivery_status(order).await, "delivered");
    assert_eq!(stage.order_state(order).await, order::State::Fulfilled);
    assert_eq!(
        stage
            .count("select count(*) from river_job where state = 'completed'")
            .await,
        1
    );
}

#[tokio::test]
async fn a_submission_that_was_surely_not_executed_is_repeated_on_schedule() {
    let stage = Stage::new().await;
    let shop = Shop::of(&stage, FakeGoods::default(), None);
    let order = stage.goods_order().await;
    shop.goods.fails(FailureClass::Retryable, "http_429");
    assert_eq!(
        shop.run(&stage, order).await,
        Ok(Outcome::Snooze(Duration::from_mins(2)))
    );
    assert!(
        matches!(shop.run(&stage, order).await, Ok(Outcome::Snooze(_))),
        "not before it is due"
    );
    stage.clock.advance(TimeDelta::minutes(2));
    stage.delivery_due(order).await;
    assert_eq!(shop.run(&stage, order).await, Ok(Outcome::Done));
    assert_eq!(shop.goods.submitted().len(), 2);
    assert_eq!(stage.delivery(order).await.attempts, 2);
}

#[tokio::test]
async fn six_submissions_are_the_end_and_the_debt_is_named() {
    let stage = Stage::new().await;
    let shop = Shop::of(&stage, FakeGoods::default(), None);
    let order = stage.goods_order().await;
    for _ in 0..6 {
        shop.goods.fails(FailureClass::ProviderUnavailable, "http_401");
        shop.run(&stage, order).await.unwrap();
        stage.clock.advance(TimeDelta::hours(2));
        stage.delivery_due(order).await;
    }
    let delivery = stage.delivery(order).await;
    assert!(matches!(delivery.state, State::Failed { code } if code == "attempts_exhausted"));
    assert_eq!(delivery.refund_owed.map(domain::money::Money::amount_minor), Some(500));
    assert_eq!(shop.goods.submitted().len(), 6);
    assert_eq!(stage.count("select count(*) from dead_letters").await, 1);
    assert_eq!(shop.deliveries.schedule().await.unwrap().due, 0);
}

#[tokio::test]
async fn an_unclassified_answer_is_parked_for_a_person() {
    let stage = Stage::new().await;
    let shop = Shop::of(&stage, FakeGoods::default(), None);
    let order = stage.goods_order().await;
    shop.goods.answers(Err(AdapterError {
        detail: "no idea".to_owned(),
    }));
    assert_eq!(shop.run(&stage, order).await, Ok(Outcome::Done));
    assert!(matches!(stage.delivery(order).await.state, State::NeedsReview { code } if code == "adapter_error"));
    assert_eq!(stage.delivery_status(order).await, "needs_review");
    assert_eq!(
        stage
            .count("select count(*) from operator_notices where dedupe_key like 'goods-review:%'")
            .await,
        1
    );
    assert_eq!(
        stage
            .count("select count(*) from river_job where state = 'completed'")
            .await,
        1
    );
}

/// Claimed by a process that dies before it records: before or after the call, nobody can tell.
async fn claimed_and_lost(stage: &Stage, shop: &Shop, order: uuid::Uuid) {
    let run = shop.fetch(stage, order).await;
    let job = JobRef {
        job_id: run.job_id,
        attempt: run.attempt,
    };
    assert!(matches!(
        shop.deliveries.claim(job, order).await.unwrap(),
        Claim::Submit(_)
    ));
    sqlx::query("update river_job set state = 'available' where state = 'running'")
        .execute(&stage.pool)
        .await
        .unwrap();
}

#[tokio::test]
async fn an_abandoned_submission_is_parked_and_never_sent_again() {
    let stage = Stage::new().await;
    let shop = Shop::of(&stage, FakeGoods::default(), None);
    let order = stage.goods_order().await;
    claimed_and_lost(&stage, &shop, order).await;
    assert_eq!(
        shop.run(&stage, order).await,
        Ok(Outcome::Snooze(SUBMISSION)),
        "its deadline is respected"
    );
    stage.clock.advance(TimeDelta::seconds(121));
    stage.delivery_due(order).await;
    assert_eq!(shop.run(&stage, order).await, Ok(Outcome::Done));
    assert!(shop.goods.submitted().is_empty());
    assert!(matches!(stage.delivery(order).await.state, State::NeedsReview { code } if code == "submission_abandoned"));
}

#[tokio::test]
async fn an_idempotent_provider_gets_the_same_submission_again() {
    let stage = Stage::new().await;
    let shop = Shop::of(&stage, FakeGoods::idempotent(), None);
    let order = stage.goods_order().await;
    claimed_and_lost(&stage, &shop, order).await;
    stage.clock.advance(TimeDelta::seconds(121));
    stage.delivery_due(order).await;
    assert_eq!(shop.run(&stage, order).await, Ok(Outcome::Done));
    assert_eq!(shop.goods.submitted(), [format!("goods:{order}")]);
    assert_eq!(
        stage.delivery(order).await.attempts,
        1,
        "the same submission, not another one"
    );
    assert_eq!(stage.delivery_status(order).await, "delivered");
}

#[tokio::test]
async fn an_accepted_submission_is_only_asked_for() {
    let stage = Stage::new().await;
    let shop = Shop::of(&stage, FakeGoods::default(), None);
    let order = stage.goods_order().await;
    shop.goods.answers(Ok(Submission::Accepted {
        reference: "r-1".to_owned(),
    }));
    shop.goods.polls(None);
    shop.goods.polls(Some(Submission::Delivered));
    assert_eq!(
        shop.run(&stage, order).await,
        Ok(Outcome::Snooze(Duration::from_mins(1)))
    );
    for expected in [Outcome::Snooze(Duration::from_mins(1)), Outcome::Done] {
        stage.clock.advance(TimeDelta::seconds(61));
        stage.delivery_due(order).await;
        assert_eq!(shop.run(&stage, order).await, Ok(expected));
    }
    assert_eq!((shop.goods.submitted().len(), shop.goods.asked()), (1, 2));
    assert_eq!(stage.delivery(order).await.state, State::Delivered);
}

#[tokio::test]
async fn an_erased_recipient_ends_the_delivery_without_a_call() {
    let stage = Stage::new().await;
    let shop = Shop::of(&stage, FakeGoods::default(), None);
    let order = stage.goods_order().await;
    assert!(store::recipients::erase_recipient(&stage.pool, order).await.unwrap());
    assert_eq!(shop.run(&stage, order).await, Ok(Outcome::Done));
    assert!(shop.goods.submitted().is_empty());
    let delivery = stage.delivery(order).await;
    assert!(matches!(delivery.state, State::Failed { code } if code == "recipient_erased"));
    assert!(delivery.refund_owed.is_some());
}

#[tokio::test]
async fn the_ceiling_holds_back_what_would_pass_it() {
    let stage = Stage::new().await;
    let ceiling = SpendCeiling {
        amount_minor: 500,
        window: Duration::from_hours(24),
    };
    let shop = Shop::of(&stage, FakeGoods::default(), Some(ceiling));
    let (one, other) = (stage.goods_order().await, stage.goods_order().await);
    assert_eq!(shop.run(&stage, one).await, Ok(Outcome::Done));
    assert_eq!(
        shop.run(&stage, other).await,
        Ok(Outcome::Snooze(Duration::from_mins(10)))
    );
    assert_eq!(shop.goods.submitted().len(), 1);
    assert_eq!(stage.delivery(other).await.state, State::Owed, "no attempt was used");
    // What was surely not bought frees its part.
    sqlx::query("update goods_spending set counted = false")
        .execute(&stage.pool)
        .await
        .unwrap();
    stage.delivery_due(other).await;
    assert_eq!(shop.run(&stage, other).await, Ok(Outcome::Done));
}

#[tokio::test]
async fn at_most_eight_run_at_once() {
    let stage = Stage::racing().await;
    let shop = Shop::of(&stage, FakeGoods::default(), None);
    shop.goods.slow(Duration::from_secs(1));
    // All are there before the first begins: what is counted is runs at once, not how fast orders are made.
    let mut fetched = Vec::new();
    for _ in 0..9 {
        let order_id = stage.goods_order().await;
        fetched.push((order_id, shop.fetch(&stage, order_id).await));
    }
    let mut runs = tokio::task::JoinSet::new();
    for (order_id, run) in fetched {
        let jobs = shop.jobs.clone();
        runs.spawn(async move { jobs.run(run, GoodsDeliveryArgs { order_id }).await });
    }
    let ended = runs.join_all().await;
    let waiting = ended
        .iter()
        .filter(|end| **end == Ok(Outcome::Snooze(Duration::from_secs(1))))
        .count();
    assert_eq!(waiting, 1);
    assert_eq!(shop.goods.submitted().len(), 8);
}

#[tokio::test]
async fn a_lost_job_of_a_due_delivery_is_scheduled_once() {
    let stage = Stage::new().await;
    let shop = Shop::of(&stage, FakeGoods::default(), None);
    let order = stage.goods_order().await;
    sqlx::query("delete from river_job").execute(&stage.pool).await.unwrap();
    assert_eq!(shop.deliveries.schedule().await.unwrap().scheduled, 1);
    assert_eq!(shop.deliveries.schedule().await.unwrap().live, 1);
    assert_eq!(shop.run(&stage, order).await, Ok(Outcome::Done));
    assert!(stage.clock.now() > chrono::DateTime::UNIX_EPOCH);
}
