//! What a small run shows of itself: one trace from the request to the panel, every metric that the dashboard reads, log lines that say what they
//! belong to, and no secret in any of it.

use std::{
    net::TcpListener,
    time::{Duration, Instant},
};

use omniflow::driver::{Bought, Goods, Shop};
use ports::ids::{Ids as _, SystemIds};
use sandbox::{
    control::Client,
    faults::{Fault, FaultRule, SimulatorName},
};
use serde_json::json;
use sqlx::PgPool;
use tempfile::TempDir;
use tests::TestDb;
use uuid::Uuid;

use crate::up::{
    collector::Collector,
    printed::every_metric,
    process::{Process, Start},
    told::{no_secret, told_what_they_belong_to},
    traced::one_trace,
};

pub(crate) const SOON: Duration = Duration::from_secs(90);
/// Where the sample catalog's first plan is.
const PLAN: Uuid = Uuid::from_u128(0x0196_0000_0000_7000_8000_0000_0000_0001);
pub(crate) const TOKEN: &str = "planted-operator-token-7c1f";
pub(crate) const CREDENTIALS: &str = "Bearer planted-collector-token-93ab";
pub(crate) const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
pub(crate) const CALLER: &str = "00f067aa0ba902b7";

/// Simulators, API and worker, each a process.
pub(crate) struct Running {
    dir: TempDir,
    pub(crate) pool: PgPool,
    pub(crate) api_url: String,
    pub(crate) worker_url: String,
    sandbox: Process,
    api: Process,
    worker: Process,
    pub(crate) collector: Collector,
    db: TestDb,
}

impl Running {
    async fn start() -> Self {
        let (db, collector) = (TestDb::new().await, Collector::start());
        let dir = tempfile::tempdir().expect("a folder");
        let ports = [free_port(), free_port()];
        let [api_address, worker_address] = ports.map(|port| format!("127.0.0.1:{port}"));
        let endpoint = format!("http://{}", collector.address);
        let headers = format!("authorization={CREDENTIALS}");
        let settings = [
            ("APP_DATABASE_URL", db.owner_url.as_str()),
            ("APP_HTTP_ADDR", api_address.as_str()),
            ("APP_WORKER_HTTP_ADDR", worker_address.as_str()),
            ("APP_OPERATOR_TOKEN", TOKEN),
            ("APP_LOG_FORMAT", "json"),
            ("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint.as_str()),
            ("OTEL_EXPORTER_OTLP_HEADERS", headers.as_str()),
            ("OTEL_BSP_SCHEDULE_DELAY", "100"),
            // Everything that our own code says, and what the HTTP client says of its connections.
            (
                "RUST_LOG",
                "debug,sqlx=info,riverqueue=info,hyper=debug,reqwest=debug,h2=info,rustls=info",
            ),
        ];
        let data_dir = dir.path().to_str().expect("its name is text").to_owned();
        let start = |command: &str| {
            let args = ["--data-dir", data_dir.as_str(), command];
            Start {
                settings: &settings,
                ..Start::of(dir.path(), &args)
            }
            .now()
        };
        let sandbox = start("sandbox");
        until("the simulators listen", async || {
            dir.path().join("sandbox.json").exists()
        })
        .await;
        let (api, worker) = (start("api"), start("worker"));
        let [api_url, worker_url] = [api_address, worker_address].map(|address| format!("http://{address}"));
        for url in [&api_url, &worker_url] {
            until("a process listens", async || {
                http().get(format!("{url}/livez")).send().await.is_ok()
            })
            .await;
        }
        Self {
            pool: PgPool::connect(&db.owner_url).await.expect("the database answers"),
            dir,
            api_url,
            worker_url,
            sandbox,
            api,
            worker,
            collector,
            db,
        }
    }

    fn shop(&self) -> Shop {
        Shop::new(self.api_url.clone(), TOKEN.into()).expect("a client")
    }

    async fn fulfilled(&self, order: &Bought) {
        let shop = self.shop();
        until("the order is fulfilled", async || {
            shop.order(order.id).await.expect("the order is there").state == "fulfilled"
        })
        .await;
    }

    /// A plan, approved by a request that is part of a caller's trace. The panel fails once on the way.
    async fn traced_order(&self) -> Bought {
        let panel = Client::of(self.dir.path()).expect("the simulators were started");
        let fault = FaultRule::new(
            SimulatorName::Panel,
            "POST /api/users",
            Fault::status_with(500, json!({"message": "planted-in-an-answer-5511"})),
        )
        .at_most(1);
        panel.set_faults(&[fault]).await.expect("the panel is told");
        let shop = self.shop();
        let order = shop
            .buy_plan(SystemIds.next(), SystemIds.next(), PLAN)
            .await
            .expect("placed");
        let payment = shop
            .ask_for_money(SystemIds.next(), order.id, "manual")
            .await
            .expect("the payment is asked for");
        let answer = http()
            .post(format!(
                "{}/v1/admin/payments/{}/manual-decision",
                self.api_url, payment.id
            ))
            .bearer_auth(TOKEN)
            .header("Idempotency-Key", SystemIds.next().to_string())
            .header("traceparent", format!("00-{TRACE}-{CALLER}-01"))
            .header("tracestate", "vendor=opaque")
            .json(&json!({"approved": true, "operatorId": "sample", "reason": "a sample"}))
            .send()
            .await
            .expect("the API answers");
        assert!(answer.status().is_success(), "{}", answer.status());
        self.fulfilled(&order).await;
        order
    }

    /// A plan paid at the provider, goods, and a stranger at the door.
    async fn other_business(&self) {
        let shop = self.shop();
        let control = Client::of(self.dir.path()).expect("the simulators were started");
        let webhook = format!("{}/v1/payments/webhooks/cryptobot", self.api_url);
        control
            .set_cryptopay_webhook(Some(&webhook))
            .await
            .expect("the provider is told");
        let plan = shop
            .buy_plan(SystemIds.next(), SystemIds.next(), PLAN)
            .await
            .expect("placed");
        let payment = shop
            .ask_for_money(SystemIds.next(), plan.id, "cryptobot")
            .await
            .expect("an invoice");
        let invoice = payment
            .provider_reference
            .and_then(|text| text.parse().ok())
            .expect("a number");
        control.pay_invoice(invoice).await.expect("the customer pays");

        let goods = Goods {
            product: "stars-100",
            username: "planted_recipient",
        };
        let goods = shop
            .buy_goods(SystemIds.next(), SystemIds.next(), goods)
            .await
            .expect("placed");
        let payment = shop
            .ask_for_money(SystemIds.next(), goods.id, "manual")
            .await
            .expect("the payment is asked for");
        shop.approve(SystemIds.next(), payment.id).await.expect("approved");

        let stranger = http()
            .get(format!("{}/v1/admin/jobs", self.api_url))
            .bearer_auth("planted-wrong-token-11")
            .send()
            .await
            .expect("the API answers");
        assert_eq!(stranger.status(), 401);
        self.fulfilled(&plan).await;
        self.fulfilled(&goods).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b84_a_run_shows_one_trace_and_every_metric_and_no_secret() {
    let running = Running::start().await;
    let order = running.traced_order().await;
    one_trace(&running, &order).await;
    running.other_business().await;
    every_metric(&running).await;

    // What is exported on the way out is part of it.
    let Running {
        dir,
        sandbox,
        api,
        worker,
        db,
        ..
    } = running;
    let logs = [stopped(api).await, stopped(worker).await];
    sandbox.kill();
    told_what_they_belong_to(&logs[1], &order);
    no_secret(&logs, dir.path(), &db.owner_url);
}

/// Asks it to end, and answers its log.
async fn stopped(mut process: Process) -> String {
    process.signal(rustix::process::Signal::TERM);
    let status = process.ends(SOON).await;
    let log = process.errors();
    assert!(status.success(), "{status:?}: {log}");
    log
}

async fn until(what: &str, ready: impl AsyncFn() -> bool) {
    let deadline = Instant::now() + SOON;
    while !ready().await {
        assert!(Instant::now() < deadline, "not in time: {what}");
        tokio::time::sleep(Duration::from_millis(30)).await;
    }
}

/// A client that takes no proxy of ours.
pub(crate) fn http() -> reqwest::Client {
    // The client brings no provider of its own; one that is installed already stays.
    let _installed = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder().no_proxy().build().expect("a client")
}

fn free_port() -> u16 {
    TcpListener::bind(("127.0.0.1", 0))
        .and_then(|listener| listener.local_addr())
        .expect("a free port")
        .port()
}
