//! The installation: a database server of its own behind a proxy, simulators, APIs, workers.

use std::{
    collections::BTreeMap,
    net::{SocketAddr, TcpStream},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use cluster::{Cluster, Options};
use rustix::process::{Pid, Signal, kill_process};
use sandbox::control::Client;
use sqlx::PgPool;
use store::{Mode, PoolOptions, general_pool, migrate};

use super::{
    fleet::{Fleet, Role, free_port},
    process::{Process, Starter},
    proxy::Proxy,
};
use crate::{driver::Shop, failure::Failure, wiring::database::DATABASE};

/// Of a process to answer for the first time.
const PATIENCE: Duration = Duration::from_secs(60);
/// All processes', and those of processes that died a moment ago.
const CONNECTIONS: u16 = 300;
/// Of an installation that nobody else can reach and that is gone afterwards.
const TOKEN: &str = "the-token-of-a-throw-away-installation";

/// How many of each, and how many critical jobs a worker runs at once.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) apis: usize,
    pub(super) workers: usize,
    pub(super) jobs: usize,
    /// Whether the processes reach the database through the proxy only.
    pub(super) proxied: bool,
}

/// Everything that runs, and where it is kept.
#[derive(Debug)]
pub(super) struct Ground {
    pub(super) folder: PathBuf,
    pub(super) fleet: Fleet,
    pub(super) proxy: Proxy,
    pub(super) control: Client,
    /// Straight to the server: what is looked up with it is no part of the storm.
    pub(super) pool: PgPool,
    apis: Vec<String>,
    settings: Vec<(&'static str, String)>,
    options: Options,
    cluster: Option<Cluster>,
    _simulators: Process,
    keep: bool,
}

impl Ground {
    /// Starts everything and waits until the APIs answer.
    pub(super) async fn start(
        binary: &Path,
        folder: &Path,
        server: BTreeMap<String, String>,
        keep: bool,
        shape: Shape,
    ) -> Result<Self, Failure> {
        let options = Options {
            settings: server,
            loopback: true,
            max_connections: CONNECTIONS,
            throw_away: !keep,
            ..Options::new(folder)
        };
        let cluster = Cluster::start(&options).await.map_err(Failure::unavailable)?;
        cluster.ensure_database(DATABASE).await.map_err(Failure::unavailable)?;
        let url = cluster.owner_url(DATABASE);
        migrate(&url, Mode::Sandbox).await?;
        let proxy = Proxy::start(address_of(&url)?).await?;
        let proxied = through(&url, proxy.address())?;
        let settings = settings(if shape.proxied { &proxied } else { &url }, shape.jobs);

        let starter = Starter::new(binary, folder);
        let simulators = starter.start("sandbox", "sandbox", &[])?;
        until(|| folder.join("sandbox.json").exists()).await?;
        let control = Client::of(folder)?;
        let mut fleet = Fleet::new(starter);
        let mut apis = Vec::new();
        for _ in 0..shape.apis {
            let port = free_port()?;
            let mut own = settings.clone();
            own.push(("APP_HTTP_ADDR", format!("127.0.0.1:{port}")));
            fleet.post(Role::Api, own)?;
            // One after the other: the first makes the keys of the data directory.
            until(|| TcpStream::connect(("127.0.0.1", port)).is_ok()).await?;
            apis.push(format!("http://127.0.0.1:{port}"));
        }
        for _ in 0..shape.workers {
            fleet.post(Role::Worker, settings.clone())?;
        }
        let webhook = apis.first().map(|api| format!("{api}/v1/payments/webhooks/cryptobot"));
        control.set_cryptopay_webhook(webhook.as_deref()).await?;
        let pool = PoolOptions {
            url,
            size: 2,
            process: "chaos",
        };
        Ok(Self {
            folder: folder.to_owned(),
            fleet,
            proxy,
            control,
            pool: general_pool(&pool).await?,
            apis,
            settings,
            options,
            cluster: Some(cluster),
            _simulators: simulators,
            keep,
        })
    }

    /// One more process.
    pub(super) fn employ(&mut self, role: Role) -> Result<(), Failure> {
        self.fleet.post(role, self.settings.clone())
    }

    /// A client of each API.
    pub(super) fn shops(&self) -> Result<Vec<Shop>, Failure> {
        let shop = |api: &String| Shop::new(api.clone(), TOKEN.to_owned().into());
        Ok(self.apis.iter().map(shop).collect::<Result<_, _>>()?)
    }

    /// SIGKILL of the database server, and its next start on the same files and port.
    pub(super) async fn kill_server(&mut self) -> Result<(), Failure> {
        let Some(cluster) = self.cluster.take() else {
            return Ok(());
        };
        if let Some(pid) = Pid::from_raw(cluster.pid()) {
            let _gone = kill_process(pid, Signal::KILL);
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
        cluster.keep_files().stop().await.map_err(Failure::unavailable)?;
        self.cluster = Some(Cluster::start(&self.options).await.map_err(Failure::unavailable)?);
        Ok(())
    }

    /// Whether every read model equals one that is built from the log alone.
    pub(super) async fn verified(&self) -> Result<bool, Failure> {
        let mut command = self
            .fleet
            .starter()
            .command(&["projections", "verify", "--all", "--json"], &self.settings);
        let verified = tokio::task::spawn_blocking(move || command.output()).await;
        Ok(verified.map_err(Failure::unavailable)??.status.success())
    }

    /// Lines of the processes' logs that tell of a panic.
    pub(super) fn panics(&self) -> usize {
        let panics = |log: &str| {
            let path = self.folder.join(format!("{log}.log"));
            let text = std::fs::read(path).unwrap_or_default();
            let text = String::from_utf8_lossy(&text);
            text.lines().filter(|line| line.contains("panicked at")).count()
        };
        self.fleet.logs().map(panics).sum()
    }

    /// Ends everything; the files go unless they are to be kept.
    pub(super) async fn stop(self) -> Result<(), Failure> {
        self.pool.close().await;
        drop((self.fleet, self.proxy, self._simulators));
        if let Some(cluster) = self.cluster {
            cluster.stop().await.map_err(Failure::unavailable)?;
        }
        if self.keep {
            tracing::info!(folder = %self.folder.display(), "kept");
        } else {
            std::fs::remove_dir_all(&self.folder)?;
        }
        Ok(())
    }
}

fn settings(url: &str, jobs: usize) -> Vec<(&'static str, String)> {
    let jobs = jobs.to_string();
    [
        ("APP_DATABASE_URL", url),
        ("APP_WORKER_HTTP_ADDR", "off"),
        ("APP_OPERATOR_TOKEN", TOKEN),
        // Five processes on a machine that may have two cores.
        ("APP_QUEUE_CRITICAL_WORKERS", jobs.as_str()),
        ("APP_QUEUE_DEFAULT_WORKERS", "4"),
        ("APP_QUEUE_BULK_WORKERS", "1"),
        ("RUST_LOG", "info,sqlx=error,riverqueue=warn"),
    ]
    .map(|(name, value)| (name, value.to_owned()))
    .to_vec()
}

async fn until(ready: impl Fn() -> bool) -> Result<(), Failure> {
    let deadline = Instant::now() + PATIENCE;
    while !ready() {
        if Instant::now() > deadline {
            return Err(Failure::unavailable("a process of the installation did not come up"));
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Ok(())
}

/// Where host and port stand in an address of the private server, `postgres://owner:password@host:port/database`.
fn place(url: &str) -> Result<std::ops::Range<usize>, Failure> {
    let start = url.find('@').map(|at| at + 1);
    let end = start.and_then(|start| Some(start + url.get(start..)?.find('/')?));
    let place = start.zip(end).map(|(start, end)| start..end);
    place.ok_or_else(|| Failure::unavailable("the private server has an address of another form"))
}

fn address_of(url: &str) -> Result<SocketAddr, Failure> {
    let address = url.get(place(url)?).unwrap_or_default();
    address.parse().map_err(Failure::unavailable)
}

fn through(url: &str, proxy: SocketAddr) -> Result<String, Failure> {
    let mut url = url.to_owned();
    url.replace_range(place(&url)?, &proxy.to_string());
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_leads_through_the_proxy() {
        let url = "postgres://omniflow:x%2Fy@127.0.0.1:5444/omniflow?sslmode=disable";
        assert_eq!(address_of(url).unwrap(), "127.0.0.1:5444".parse().unwrap());
        assert_eq!(
            through(url, "127.0.0.1:6000".parse().unwrap()).unwrap(),
            "postgres://omniflow:x%2Fy@127.0.0.1:6000/omniflow?sslmode=disable"
        );
        assert!(address_of("postgres://nowhere").is_err());
    }
}
