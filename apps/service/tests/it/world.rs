//! A database, a service over it, and short words for what tests do again and again.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use domain::ids::{CustomerId, EntitlementId, IdempotencyKey, OrderId, PlanVersionId};
use ports::clock::{Clock as _, ManualClock};
use service::{
    Caller, Done, Error, KeyedRequest, OrderView, PaymentProviders, PaymentView, PlaceOrder, RecipientIn, Refusal,
    Service, Wanted,
    catalog::{self, Catalog},
    payments::start_payment::StartPayment,
    webhooks::{Received, WebhookCall},
};
use sqlx::{Connection as _, PgPool};
use store::{PoolOptions, Store};
use tests::TestDb;
use uuid::Uuid;

use crate::provider::{FakePay, ManualPay, SIGNED};

/// Connections for whatever a test does beside the service.
const WIDE: u32 = 24;

pub(crate) struct World {
    pub(crate) service: Service,
    pub(crate) pay: Arc<FakePay>,
    pub(crate) clock: ManualClock,
    pub(crate) pool: PgPool,
    pub(crate) catalog: Arc<Catalog>,
    db: TestDb,
}

impl World {
    /// A service of one connection: a use case that asks for a second one while it holds the first waits for itself.
    pub(crate) async fn new() -> Self {
        Self::with_goods(true).await
    }

    /// As [`Self::new`], with connections enough for callers who meet in the database.
    pub(crate) async fn racing() -> Self {
        Self::build(true, WIDE).await
    }

    /// As [`Self::new`], with so many connections.
    pub(crate) async fn of(connections: u32) -> Self {
        Self::build(true, connections).await
    }

    pub(crate) async fn with_goods(enabled: bool) -> Self {
        Self::build(enabled, 1).await
    }

    async fn build(enabled: bool, size: u32) -> Self {
        let db = TestDb::new().await;
        let options = PoolOptions {
            url: db.url.clone(),
            size: WIDE,
            process: "test",
        };
        let pool = store::command_pool(&options).await.unwrap();
        let own = store::command_pool(&PoolOptions { size, ..options }).await.unwrap();
        let catalog = Arc::new(catalog::sample(&[Uuid::from_u128(1), Uuid::from_u128(2)]));
        let clock = ManualClock::at("2026-03-01T12:00:00Z".parse::<DateTime<Utc>>().unwrap());
        let pay = Arc::new(FakePay::default());
        let providers = PaymentProviders::default().with(pay.clone()).with(Arc::new(ManualPay));
        let service = Service::builder(Store::new(own.clone()))
            .clock(Arc::new(clock.clone()))
            .catalog(catalog.clone())
            .providers(providers)
            .goods(service::GoodsProviders::default(), enabled)
            .queue(queue::JobClient::new(own))
            .build();
        Self {
            service,
            pay,
            clock,
            pool,
            catalog,
            db,
        }
    }

    pub(crate) fn plan(&self, code: &str) -> PlanVersionId {
        let plan = self.catalog.plans.iter().find(|plan| plan.code == code).unwrap();
        plan.versions[0].terms.plan_version_id
    }

    pub(crate) fn purchase(&self, code: &str) -> PlaceOrder {
        PlaceOrder {
            customer_id: customer(1),
            currency: "RUB".parse().unwrap(),
            item: Wanted::Purchase {
                plan_version_id: self.plan(code),
            },
        }
    }

    pub(crate) fn extension(&self, entitlement_id: EntitlementId) -> PlaceOrder {
        PlaceOrder {
            item: Wanted::Extension {
                plan_version_id: self.plan("month"),
                entitlement_id,
            },
            ..self.purchase("month")
        }
    }

    pub(crate) fn stars(&self, username: &str) -> PlaceOrder {
        PlaceOrder {
            item: Wanted::Goods {
                product: "stars-100".to_owned(),
                recipient: RecipientIn {
                    username: username.to_owned(),
                    telegram_user_id: Some(7),
                },
            },
            ..self.purchase("month")
        }
    }

    pub(crate) async fn place(&self, key: &str, order: &PlaceOrder) -> Result<Done<OrderView>, Error> {
        self.service.place_order(&caller(), &keyed(key, order), order).await
    }

    pub(crate) async fn placed(&self, key: &str, order: &PlaceOrder) -> OrderId {
        self.place(key, order).await.unwrap().value.id.into()
    }

    pub(crate) async fn start(&self, key: &str, order_id: OrderId, provider: &str) -> Result<PaymentView, Error> {
        let start = StartPayment {
            order_id,
            provider: provider.to_owned(),
            description: None,
        };
        Ok(self
            .service
            .start_payment(&caller(), &keyed(key, &start), &start)
            .await?
            .value)
    }

    pub(crate) async fn webhook(&self, reference: &str) -> Result<Received, Error> {
        let body = self.pay.call(reference);
        let call = WebhookCall {
            provider: "fakepay",
            headers: SIGNED,
            body: &body,
        };
        self.service.receive_webhook(&caller(), call).await
    }

    pub(crate) async fn state(&self, order_id: OrderId) -> String {
        self.service.get_order(order_id).await.unwrap().state
    }

    pub(crate) async fn count(&self, sql: &'static str) -> i64 {
        sqlx::query_scalar(sql).fetch_one(&self.pool).await.unwrap()
    }

    pub(crate) async fn run(&self, sql: &'static str) {
        sqlx::query(sql).execute(&self.pool).await.unwrap();
    }

    /// With the rights of the tables' owner.
    pub(crate) async fn run_as_owner(&self, sql: &'static str) {
        let mut owner = sqlx::PgConnection::connect(&self.db.owner_url).await.unwrap();
        sqlx::raw_sql(sql).execute(&mut owner).await.unwrap();
    }

    pub(crate) async fn events(&self, order_id: OrderId) -> Vec<String> {
        sqlx::query_scalar("select event_type from events where aggregate_id = $1 order by position")
            .bind(order_id.to_string())
            .fetch_all(&self.pool)
            .await
            .unwrap()
    }

    pub(crate) fn now(&self) -> DateTime<Utc> {
        self.clock.now()
    }
}

pub(crate) fn customer(number: u128) -> CustomerId {
    CustomerId::new(Uuid::from_u128(number))
}

pub(crate) fn caller() -> Caller {
    Caller::new("operator:test", "request-1")
}

pub(crate) fn keyed(key: &str, body: &impl serde::Serialize) -> KeyedRequest {
    let key = IdempotencyKey::parse(&format!("key-{key:0>8}")).unwrap();
    KeyedRequest::new("operator:test", key, "POST /test", body).unwrap()
}

#[track_caller]
pub(crate) fn refusal<T: std::fmt::Debug>(outcome: Result<T, Error>) -> Refusal {
    match outcome {
        Err(Error::Refused(refusal)) => refusal,
        other => panic!("expected a refusal, got {other:?}"),
    }
}
