//! A sandbox installation of separate processes on a durable server of its own.

use std::{
    collections::BTreeSet,
    net::TcpListener,
    path::Path,
    process::Output,
    time::{Duration, Instant},
};

use omniflow::driver::{Bought, Shop, Verdict, judge};
use ports::ids::{Ids as _, SystemIds};
use sandbox::control::Client;
use sqlx::{PgPool, postgres::PgPoolOptions};
use store::summary::{Summary, parked_orders, summary};
use tempfile::TempDir;
use tests::TestDb;
use uuid::Uuid;

use crate::fire::process::Process;

/// Where the sample catalog's first plan is.
pub(crate) const PLAN: Uuid = Uuid::from_u128(0x0196_0000_0000_7000_8000_0000_0000_0001);
const TOKEN: &str = "fire-drill-operator-token";

/// Everything but the workers, which each test starts and kills as it likes.
#[derive(Debug)]
pub(crate) struct Installation {
    pub(crate) dir: TempDir,
    pub(crate) pool: PgPool,
    pub(crate) shop_url: String,
    settings: Vec<(&'static str, String)>,
    _sandbox: Process,
    api: Process,
    port: u16,
    db: TestDb,
}

impl Installation {
    /// Starts simulators and API, and waits until both answer.
    pub(crate) async fn start() -> Self {
        let db = TestDb::own_cluster(true).await;
        let dir = tempfile::tempdir().expect("a folder");
        let port = free_port();
        let settings = vec![
            ("APP_DATABASE_URL", db.owner_url.clone()),
            ("APP_HTTP_ADDR", format!("127.0.0.1:{port}")),
            ("APP_WORKER_HTTP_ADDR", "off".to_owned()),
            ("APP_OPERATOR_TOKEN", TOKEN.to_owned()),
            ("APP_QUEUE_CRITICAL_WORKERS", "8".to_owned()),
            ("APP_QUEUE_DEFAULT_WORKERS", "4".to_owned()),
            ("APP_QUEUE_BULK_WORKERS", "1".to_owned()),
            ("RUST_LOG", "info,sqlx=error,riverqueue=warn".to_owned()),
        ];
        let sandbox = Process::start("sandbox", dir.path(), &[]);
        wait_for(Duration::from_secs(20), || dir.path().join("sandbox.json").exists()).await;
        let api = Process::start("api", dir.path(), &settings);
        listens(port).await;
        // More patient than those of the product: what is slow here is the machine, and that is no claim of ours.
        let pool = PgPoolOptions::new()
            .max_connections(4)
            .acquire_timeout(Duration::from_secs(60))
            .connect(&db.owner_url)
            .await
            .expect("the database answers");
        Self {
            dir,
            pool,
            shop_url: format!("http://127.0.0.1:{port}"),
            settings,
            _sandbox: sandbox,
            api,
            port,
            db,
        }
    }

    /// Replaces the API by one that crashes at a failpoint.
    pub(crate) async fn crashing_api(&mut self, failpoints: &str) {
        let mut settings = self.settings.clone();
        settings.push(("FAILPOINTS", failpoints.to_owned()));
        self.replace_api(&settings).await;
    }

    /// Waits until the API crashed, and starts a sound one.
    pub(crate) async fn recover_api(&mut self) {
        let deadline = Instant::now() + Duration::from_secs(30);
        while self.api.runs() {
            assert!(Instant::now() < deadline, "the API did not crash");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let settings = self.settings.clone();
        self.replace_api(&settings).await;
    }

    async fn replace_api(&mut self, settings: &[(&'static str, String)]) {
        self.api.stop_now();
        self.api = Process::start("api", self.dir.path(), settings);
        listens(self.port).await;
    }

    /// The control interface of the simulators.
    pub(crate) fn control(&self) -> Client {
        Client::of(self.path()).expect("the simulators were started")
    }

    /// Buys a plan, and says what the customer and the panel know it by.
    pub(crate) async fn buy_plan(&self) -> Bought {
        let order = self.place_plan().await;
        self.pay(&order).await;
        order
    }

    /// An order that is not paid yet.
    pub(crate) async fn place_plan(&self) -> Bought {
        let ids = [SystemIds.next(), SystemIds.next()];
        let placed = self.shop().buy_plan(ids[0], ids[1], PLAN).await;
        placed.expect("the order is placed")
    }

    /// Pays an order by an operator's word.
    pub(crate) async fn pay(&self, order: &Bought) {
        let shop = self.shop();
        let payment = shop.ask_for_money(SystemIds.next(), order.id, "manual").await;
        let payment = payment.expect("the payment is asked for");
        let approved = shop.approve(SystemIds.next(), payment.id).await;
        approved.expect("the payment settles");
    }

    /// Every read model equals one that is built from the log alone.
    pub(crate) fn verify(&self) {
        let verified = self.omniflow(&["projections", "verify", "--all", "--json"], &[]);
        assert!(verified.status.success(), "{verified:?}");
    }

    /// Runs a command against this installation, with further settings.
    pub(crate) fn omniflow(&self, args: &[&str], settings: &[(&'static str, String)]) -> Output {
        let mut all = self.settings.clone();
        all.extend_from_slice(settings);
        Process::run(args, self.path(), &all)
    }

    /// Runs a command that has to crash at a failpoint.
    pub(crate) fn crash(&self, args: &[&str], failpoint: &str) {
        let ended = self.omniflow(args, &[("FAILPOINTS", format!("{failpoint}=1*panic"))]);
        let said = String::from_utf8_lossy(&ended.stderr);
        let crashed = !ended.status.success() && said.contains(failpoint);
        assert!(crashed, "no crash at {failpoint}: {} {said}", ended.status);
    }

    /// Runs a command that has to do what it was told.
    pub(crate) fn done(&self, args: &[&str]) {
        let ended = self.omniflow(args, &[]);
        assert!(ended.status.success(), "{args:?}: {ended:?}");
    }

    /// The one number that a statement answers.
    pub(crate) async fn count(&self, sql: &'static str) -> i64 {
        let counted = sqlx::query_scalar(sql).fetch_one(&self.pool).await;
        counted.expect("the tables can be read")
    }

    /// Waits until a statement answers this number.
    pub(crate) async fn until(&self, sql: &'static str, wanted: i64, patience: Duration) {
        let deadline = Instant::now() + patience;
        loop {
            let found = self.count(sql).await;
            if found == wanted {
                return;
            }
            assert!(Instant::now() < deadline, "`{sql}` is {found}, not {wanted}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// What the test does to the database itself.
    pub(crate) async fn sql(&self, statement: &'static str) {
        sqlx::query(statement)
            .execute(&self.pool)
            .await
            .expect("the statement is carried out");
    }

    /// A worker that runs one job at a time crashes at a failpoint.
    pub(crate) async fn crash_worker(&self, failpoint: &str) {
        let lone = [("APP_QUEUE_CRITICAL_WORKERS", "1"), ("APP_QUEUE_DEFAULT_WORKERS", "1")];
        let mut worker = self.crashing_worker(&format!("{failpoint}=1*panic"), &lone);
        let died = worker.wait(Duration::from_secs(60)).await;
        assert!(
            died.is_some_and(|status| !status.success()),
            "the worker did not crash at {failpoint}"
        );
    }

    /// Address of the database, with the rights of its owner.
    pub(crate) fn database_url(&self) -> &str {
        &self.db.owner_url
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn shop(&self) -> Shop {
        Shop::new(self.shop_url.clone(), TOKEN.into()).expect("a client")
    }

    /// One more worker.
    pub(crate) fn worker(&self) -> Process {
        Process::start("worker", self.path(), &self.settings)
    }

    /// One more worker, which crashes at a failpoint.
    pub(crate) fn crashing_worker(&self, failpoints: &str, settings: &[(&'static str, &str)]) -> Process {
        let mut all = self.settings.clone();
        all.retain(|(name, _)| settings.iter().all(|(other, _)| name != other));
        all.extend(settings.iter().map(|(name, value)| (*name, (*value).to_owned())));
        all.push(("FAILPOINTS", failpoints.to_owned()));
        Process::start("worker", self.path(), &all)
    }

    /// Waits until so many orders are settled (fulfilled or parked) and the outbox is empty; answers how long that took.
    /// A `reconcile` that guards against a late write may still be due: its order is settled.
    pub(crate) async fn settle(&self, orders: usize, patience: Duration) -> (Duration, Summary, BTreeSet<Uuid>) {
        let started = Instant::now();
        loop {
            let now = summary(&self.pool).await.expect("the tables can be read");
            let parked: BTreeSet<_> = parked_orders(&self.pool)
                .await
                .expect("the tables can be read")
                .into_iter()
                .collect();
            let done = usize::try_from(now.fulfilled).unwrap_or_default() + parked.len();
            let settled = done >= orders && now.outbox_pending == 0;
            if settled || started.elapsed() > patience {
                return (started.elapsed(), now, parked);
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    /// By the simulators' journals.
    pub(crate) fn verdict(&self, plans: &[(Uuid, Uuid)], goods: &[(Uuid, String)], parked: &BTreeSet<Uuid>) -> Verdict {
        judge(self.path(), plans, goods, parked).expect("the journals can be read")
    }
}

/// What a failed drill leaves to read: its folder is removed.
impl Drop for Installation {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            return;
        }
        for name in ["api.log", "worker.log"] {
            let log = std::fs::read_to_string(self.path().join(name)).unwrap_or_default();
            let telling = |line: &&str| ["WARN", "ERROR", "panicked"].iter().any(|word| line.contains(word));
            let lines: Vec<_> = log.lines().filter(telling).collect();
            eprintln!("--- {name}: {} warnings and errors, the last of them:", lines.len());
            for line in lines.iter().rev().take(40).rev() {
                eprintln!("{line}");
            }
        }
    }
}

async fn listens(port: u16) {
    wait_for(Duration::from_secs(30), || {
        std::net::TcpStream::connect(("127.0.0.1", port)).is_ok()
    })
    .await;
}

async fn wait_for(patience: Duration, ready: impl Fn() -> bool) {
    let deadline = Instant::now() + patience;
    while !ready() {
        assert!(
            Instant::now() < deadline,
            "a process of the installation did not come up"
        );
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

fn free_port() -> u16 {
    TcpListener::bind(("127.0.0.1", 0))
        .and_then(|listener| listener.local_addr())
        .expect("a free port")
        .port()
}

/// An id that nobody else has.
pub(crate) fn fresh_id() -> Uuid {
    SystemIds.next()
}
