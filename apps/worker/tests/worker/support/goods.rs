//! A goods provider in memory, and goods orders that were paid.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
    time::Duration,
};

use async_trait::async_trait;
use domain::{
    delivery::{self, Delivery, FailureClass, Submission},
    goods::{Kind, Product},
    ids::{CustomerId, OrderId},
    log::Metadata,
    money::{Currency, Money},
    order::{self, Item, Order},
};
use ports::{
    clock::Clock,
    goods::{AdapterError, GoodsProvider, SubmitRequest},
    ids::{Ids, SystemIds},
};
use queue::{Failure, GoodsDeliveryArgs, Handler, Outcome, Run};
use service::{
    GoodsProviders,
    delivery::{Deliveries, SpendCeiling},
};
use store::{NewDelivery, StreamId, recipients::Recipient};
use uuid::Uuid;
use worker::jobs::GoodsJobs;

use super::Stage;

#[derive(Debug, Default)]
struct Inside {
    answers: VecDeque<Result<Submission, AdapterError>>,
    polls: VecDeque<Option<Submission>>,
    submitted: Vec<String>,
    asked: u32,
    slow: Option<Duration>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct FakeGoods {
    inside: Arc<Mutex<Inside>>,
    idempotent: bool,
}

impl FakeGoods {
    pub(crate) fn idempotent() -> Self {
        Self {
            idempotent: true,
            ..Self::default()
        }
    }

    pub(crate) fn answers(&self, answer: Result<Submission, AdapterError>) {
        self.inside.lock().unwrap().answers.push_back(answer);
    }

    pub(crate) fn fails(&self, class: FailureClass, code: &str) {
        self.answers(Ok(Submission::Failed {
            class,
            code: code.to_owned(),
        }));
    }

    pub(crate) fn polls(&self, answer: Option<Submission>) {
        self.inside.lock().unwrap().polls.push_back(answer);
    }

    pub(crate) fn slow(&self, span: Duration) {
        self.inside.lock().unwrap().slow = Some(span);
    }

    /// Idempotency keys of submissions, in order.
    pub(crate) fn submitted(&self) -> Vec<String> {
        self.inside.lock().unwrap().submitted.clone()
    }

    pub(crate) fn asked(&self) -> u32 {
        self.inside.lock().unwrap().asked
    }
}

#[async_trait]
impl GoodsProvider for FakeGoods {
    fn slug(&self) -> &'static str {
        "fragment"
    }

    fn is_idempotent(&self) -> bool {
        self.idempotent
    }

    async fn submit(&self, request: &SubmitRequest) -> Result<Submission, AdapterError> {
        let (answer, slow) = {
            let mut inside = self.inside.lock().unwrap();
            inside.submitted.push(request.idempotency_key.clone());
            (
                inside.answers.pop_front().unwrap_or(Ok(Submission::Delivered)),
                inside.slow,
            )
        };
        if let Some(span) = slow {
            tokio::time::sleep(span).await;
        }
        answer
    }

    async fn poll(&self, _reference: &str) -> Result<Option<Submission>, AdapterError> {
        let mut inside = self.inside.lock().unwrap();
        inside.asked += 1;
        Ok(inside.polls.pop_front().flatten())
    }

    async fn unit_cost_minor(&self, _kind: Kind, _currency: Currency) -> Result<Option<i64>, AdapterError> {
        Ok(None)
    }
}

/// The goods side of a stage.
pub(crate) struct Shop {
    pub(crate) deliveries: Deliveries,
    pub(crate) jobs: GoodsJobs,
    pub(crate) goods: FakeGoods,
}

impl Shop {
    pub(crate) fn of(stage: &Stage, goods: FakeGoods, ceiling: Option<SpendCeiling>) -> Self {
        let providers = GoodsProviders::default().with(Arc::new(goods.clone()));
        let deliveries = Deliveries::new(
            stage.store.clone(),
            stage.queue.clone(),
            Arc::new(stage.clock.clone()),
            providers.clone(),
        )
        .with_ceiling(ceiling);
        let jobs = GoodsJobs::new(deliveries.clone(), providers, true);
        Self {
            deliveries,
            jobs,
            goods,
        }
    }

    pub(crate) async fn run(&self, stage: &Stage, order_id: Uuid) -> Result<Outcome, Failure> {
        let run = self.fetch(stage, order_id).await;
        let ended = self.jobs.run(run.clone(), GoodsDeliveryArgs { order_id }).await;
        stage.settle(&run, &ended).await;
        ended
    }

    pub(crate) async fn fetch(&self, stage: &Stage, order_id: Uuid) -> Run {
        let (job_id, attempt): (i64, i16) = sqlx::query_as(
            "update river_job set state = 'running', attempt = attempt + 1, attempted_at = now()
             where args ->> 'orderId' = $1 and finalized_at is null returning id, attempt",
        )
        .bind(order_id.to_string())
        .fetch_one(&stage.pool)
        .await
        .unwrap();
        Run::driven(job_id, i32::from(attempt))
    }
}

impl Stage {
    /// A paid order of goods for 500, which cost the seller 300.
    #[expect(clippy::too_many_lines, reason = "one unit of work, told in one piece")]
    pub(crate) async fn goods_order(&self) -> Uuid {
        let order_id = SystemIds.next();
        let at = self.clock.now();
        let currency: Currency = "RUB".parse().unwrap();
        let product = Product {
            code: "stars_50".to_owned(),
            provider: "fragment".to_owned(),
            kind: Kind::TelegramStars { quantity: 50 },
            cost_minor: Some(300),
        };
        let customer_id = CustomerId::new(Uuid::from_u128(7));
        let metadata = Metadata {
            correlation_id: format!("test-{order_id}"),
            actor: "system:test".to_owned(),
            at,
            ..Metadata::default()
        };
        let streams = [StreamId::of::<Order>(order_id), StreamId::of::<Delivery>(order_id)];
        let mut uow = self
            .store
            .load(&streams, metadata.clone())
            .await
            .unwrap()
            .begin()
            .await
            .unwrap();
        let place = order::Command::Place {
            order_id: OrderId::new(order_id),
            customer_id,
            item: Item::Goods {
                product: product.clone(),
            },
            currency,
            subtotal_minor: 500,
            discount_minor: 500,
            wallet_minor: 0,
            expires_at: at + chrono::TimeDelta::hours(1),
            at,
        };
        uow.execute::<Order>(order_id, place).unwrap();
        let owe = delivery::Command::Owe {
            order_id: OrderId::new(order_id),
            customer_id,
            product,
            price: Money::new(500, currency).unwrap(),
            at,
        };
        uow.execute::<Delivery>(order_id, owe).unwrap();
        uow.owe_delivery(NewDelivery {
            order_id: OrderId::new(order_id),
            provider: "fragment".to_owned(),
            correlation_id: metadata.correlation_id,
        });
        let recipient = Recipient {
            username: "somebody".to_owned(),
            telegram_user_id: Some(42),
        };
        store::recipients::insert_recipient_in(uow.conn(), order_id, &recipient)
            .await
            .unwrap();
        uow.commit().await.unwrap();
        self.queue
            .insert(&GoodsDeliveryArgs { order_id }, &serde_json::Map::new())
            .await
            .unwrap();
        order_id
    }

    pub(crate) async fn delivery(&self, order_id: Uuid) -> Delivery {
        self.store.fold::<Delivery>(order_id).await.unwrap().state
    }

    pub(crate) async fn delivery_status(&self, order_id: Uuid) -> String {
        sqlx::query_scalar("select status from goods_deliveries where order_id = $1")
            .bind(order_id)
            .fetch_one(&self.pool)
            .await
            .unwrap()
    }

    pub(crate) async fn delivery_due(&self, order_id: Uuid) {
        sqlx::query("update goods_deliveries set next_attempt_at = clock_timestamp() where order_id = $1")
            .bind(order_id)
            .execute(&self.pool)
            .await
            .unwrap();
    }
}
