//! A router over a database of its own, and short words for requests.

use std::sync::Arc;

use ::payments::{CryptoBot, CryptoBotOptions, Manual};
use api::{
    ApiState,
    health::{Health, Probe},
};
use axum::{
    Router,
    body::{Body, Bytes, to_bytes},
    http::{HeaderMap, Request, StatusCode},
};
use chrono::{DateTime, Utc};
use domain::entitlement::RemoteStatus;
use ports::{
    clock::{Clock, ManualClock, SystemClock},
    panel_webhooks::PanelWebhooks,
};
use serde_json::Value;
use service::{
    GoodsProviders, PaymentProviders, Service, catalog,
    fulfillment::{Claim, Fulfillment, JobRef, Shown},
};
use sqlx::PgPool;
use store::{PoolOptions, Store};
use telemetry::Metrics;
use tests::TestDb;
use tower::ServiceExt as _;
use uuid::Uuid;

pub(crate) const TOKEN: &str = "operator-token";
pub(crate) const PANEL_SECRET: &str = "0123456789abcdef0123456789abcdef";
pub(crate) const CRYPTO_TOKEN: &str = "123:TESTTOKEN";
/// The plan `month` of the sample.
pub(crate) const MONTH: &str = "01960000-0000-7000-8000-000000000001";
pub(crate) const TRIAL: &str = "01960000-0000-7000-8000-000000000003";
pub(crate) const CUSTOMER: &str = "01960000-0000-7000-8000-00000000c001";

pub(crate) struct World {
    pub(crate) router: Router,
    pub(crate) service: Service,
    pub(crate) pool: PgPool,
    db: TestDb,
}

/// An answer, read to its end.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) bytes: Bytes,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.bytes).unwrap_or(Value::Null)
    }

    /// The code of a problem, after checking that it is one.
    #[track_caller]
    pub(crate) fn code(&self) -> String {
        let problem = self.json();
        assert_eq!(self.headers["content-type"], "application/problem+json", "{self:?}");
        assert_eq!(problem["status"], self.status.as_u16(), "{self:?}");
        assert_eq!(
            problem["request_id"],
            self.headers["x-request-id"].to_str().unwrap(),
            "{self:?}"
        );
        assert!(!problem["detail"].as_str().unwrap().is_empty() && !problem["title"].as_str().unwrap().is_empty());
        problem["type"]
            .as_str()
            .unwrap()
            .strip_prefix("https://omniflow.dev/problems/")
            .unwrap()
            .to_owned()
    }
}

impl World {
    pub(crate) async fn new() -> Self {
        let at = "2026-03-01T12:00:00Z".parse::<DateTime<Utc>>().unwrap();
        // Nobody listens there: what needs the provider fails, what needs only its signature works.
        Self::build(
            "http://127.0.0.1:9/api",
            CRYPTO_TOKEN,
            TOKEN,
            Arc::new(ManualClock::at(at)),
            Some(PANEL_SECRET),
        )
        .await
    }

    /// Nobody told us what the panel signs its webhooks with.
    pub(crate) async fn without_panel_secret() -> Self {
        Self::build(
            "http://127.0.0.1:9/api",
            CRYPTO_TOKEN,
            TOKEN,
            Arc::new(SystemClock),
            None,
        )
        .await
    }

    /// With Crypto Pay at an address, on the machine's clock.
    pub(crate) async fn with_crypto(simulator: &sandbox::Endpoint) -> Self {
        let base_url = format!("{}/api", simulator.url);
        Self::build(&base_url, &simulator.token, TOKEN, Arc::new(SystemClock), None).await
    }

    pub(crate) async fn with_operator_token(token: &str) -> Self {
        Self::build(
            "http://127.0.0.1:9/api",
            CRYPTO_TOKEN,
            token,
            Arc::new(SystemClock),
            None,
        )
        .await
    }

    async fn build(
        crypto: &str,
        crypto_token: &str,
        operator: &str,
        clock: Arc<dyn Clock>,
        panel_secret: Option<&str>,
    ) -> Self {
        let db = TestDb::new().await;
        let options = PoolOptions {
            url: db.url.clone(),
            size: 24,
            process: "test",
        };
        let pool = store::command_pool(&options).await.unwrap();
        let cryptobot = CryptoBot::new(CryptoBotOptions {
            base_url: crypto.to_owned(),
            token: crypto_token.into(),
        });
        let service = Service::builder(Store::new(pool.clone()))
            .clock(clock.clone())
            .catalog(Arc::new(catalog::sample(&[Uuid::from_u128(1)])))
            .providers(
                PaymentProviders::default()
                    .with(Arc::new(Manual))
                    .with(Arc::new(cryptobot.unwrap())),
            )
            .goods(GoodsProviders::default(), true)
            .queue(queue::JobClient::new(pool.clone()))
            .panel_webhooks(panel_secret.map(|secret| {
                let webhooks: Arc<dyn PanelWebhooks> = Arc::new(remnawave::Webhooks::new(secret.into()));
                webhooks
            }))
            .build();
        let probes = vec![Probe::postgres(&service), Probe::outbox(&service)];
        let metrics = Metrics::detached("api").unwrap();
        let state = ApiState::new(
            service.clone(),
            operator.into(),
            Health::new(probes, clock),
            Some(metrics),
        );
        Self {
            router: api::router(state),
            service,
            pool,
            db,
        }
    }

    pub(crate) async fn send(&self, request: Request<Body>) -> Answer {
        let (parts, body) = self.router.clone().oneshot(request).await.unwrap().into_parts();
        Answer {
            status: parts.status,
            headers: parts.headers,
            bytes: to_bytes(body, usize::MAX).await.unwrap(),
        }
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send(operator("GET", path).body(Body::empty()).unwrap()).await
    }

    pub(crate) async fn post(&self, path: &str, key: &str, body: &Value) -> Answer {
        let request = operator("POST", path).header("idempotency-key", format!("test-key-{key}"));
        self.send(request.body(Body::from(body.to_string())).unwrap()).await
    }

    /// Places an order and gives its id.
    pub(crate) async fn order(&self, key: &str, plan: &str) -> String {
        let answer = self.post("/v1/admin/orders", key, &purchase(plan)).await;
        assert_eq!(answer.status, StatusCode::CREATED, "{answer:?}");
        answer.json()["id"].as_str().unwrap().to_owned()
    }

    /// An entitlement that a worker made the panel show, under this number of the panel's.
    pub(crate) async fn granted_and_shown(&self, remote_user_id: i64) -> Uuid {
        self.order("granted", TRIAL).await;
        let (operation_id, entitlement_id): (Uuid, Uuid) =
            sqlx::query_as("select operation_id, entitlement_id from fulfillment_operations")
                .fetch_one(&self.pool)
                .await
                .unwrap();
        let (service, queue) = (&self.service, queue::JobClient::new(self.pool.clone()));
        let (clock, ids) = (service.clock().clone(), service.ids().clone());
        let fulfillment = Fulfillment::new(service.store().clone(), queue, clock, ids);
        let job = JobRef { job_id: 1, attempt: 1 };
        let Claim::Run(claimed) = fulfillment.claim(job, operation_id).await.unwrap() else {
            panic!("not claimed")
        };
        let shown = Shown {
            remote_user_id,
            remote_status: RemoteStatus::Active,
        };
        let until = tokio::time::Instant::now() + std::time::Duration::from_secs(5);
        fulfillment.record_shown(&claimed, shown, until).await.unwrap();
        entitlement_id
    }

    /// As the database's owner.
    pub(crate) async fn owner(&self) -> PgPool {
        PgPool::connect(&self.db.owner_url).await.unwrap()
    }

    pub(crate) async fn count(&self, sql: &'static str) -> i64 {
        sqlx::query_scalar(sql).fetch_one(&self.pool).await.unwrap()
    }
}

pub(crate) fn operator(method: &str, path: &str) -> axum::http::request::Builder {
    Request::builder()
        .method(method)
        .uri(path)
        .header("authorization", format!("Bearer {TOKEN}"))
        .header("content-type", "application/json")
}

pub(crate) fn purchase(plan: &str) -> Value {
    serde_json::json!({ "customerId": CUSTOMER, "currency": "RUB", "operation": "purchase", "planVersionId": plan })
}
