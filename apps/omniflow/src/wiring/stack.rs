//! Everything in one process: database, simulators, API, worker. `up` and `demo` are made of it.

use std::{net::SocketAddr, path::Path};

use domain::ids::OrderId;
use queue::QueueSizes;
use sandbox::{RunningSandbox, SandboxOptions, control, panel::Knobs};
use secrets::Secret;
use sqlx::PgPool;
use store::{Mode, general_pool, migrate};
use telemetry::Metrics;

use crate::{
    config::Config,
    driver::Shop,
    failure::Failure,
    wiring::{
        adapters::{Adapters, refuse_real_credentials},
        core::{Core, assemble, connect},
        database::Database,
        keys::keys_of,
        processes::{
            FOLLOWING_CONNECTIONS, Running, WorkerParts, listen, process_id, run_api, run_detection, run_upkeep,
            run_worker, worker_connections,
        },
    },
};

/// All parts of an installation, running.
pub struct Stack {
    /// The use cases.
    pub core: Core,
    /// A pool for figures and checks.
    pub following: PgPool,
    /// Where the API listens.
    pub base_url: String,
    /// Bearer token of the admin routes.
    pub operator_token: Option<Secret>,
    /// The simulators; `None` in a live installation.
    pub sandbox: Option<RunningSandbox>,
    /// Notices go to a real group.
    pub tells_real_operators: bool,
    running: Running,
    database: Database,
}

impl Stack {
    /// Starts everything on a database that runs already.
    ///
    /// # Errors
    /// [`Failure`] with what is missing or does not fit; what was started by then is stopped.
    pub async fn start(
        mut config: Config,
        data_dir: &Path,
        database: Database,
        mode: Mode,
        address: SocketAddr,
    ) -> Result<Self, Failure> {
        migrate(database.url.expose(), mode).await?;
        let sandbox = match mode {
            Mode::Sandbox => {
                refuse_real_credentials(&config)?;
                Some(
                    sandbox::start(SandboxOptions::new(data_dir))
                        .await
                        .map_err(Failure::unavailable)?,
                )
            }
            Mode::Live => None,
        };
        let adapters = Adapters::build(mode, &config, data_dir)?;
        let keys = keys_of(mode, &mut config, data_dir)?;
        let sizes = QueueSizes {
            critical: config.queues.critical,
            default: config.queues.default,
            bulk: config.queues.bulk,
        };
        let size = worker_connections(sizes).saturating_add(config.database.api_connections);
        let options = database.pool_options("up", size);
        let core = assemble(connect(&options).await?, &options, &adapters, keys.data_key.as_ref())?;
        let reader = adapters.reader();
        let panel = adapters.panel.ok_or_else(|| {
            Failure::Usage(
                "a live installation needs its panel: set APP_REMNAWAVE_URL and APP_REMNAWAVE_TOKEN".to_owned(),
            )
        })?;
        let metrics = config
            .metrics_enabled
            .then(|| Metrics::install("up"))
            .transpose()
            .map_err(Failure::unavailable)?;
        let (listener, address) = listen(address).await?;

        let mut running = Running::new();
        metrics
            .clone()
            .into_iter()
            .for_each(|metrics| run_upkeep(&mut running, metrics, vec![("commands", core.pool.clone())]));
        run_api(&mut running, &core, listener, keys.operator_token.clone(), metrics);
        run_detection(&mut running, &core, reader, config.detection);
        let following = general_pool(&database.pool_options("follow", FOLLOWING_CONNECTIONS)).await?;
        let parts = WorkerParts {
            panel,
            connect: database.pool_options("publish", 2),
            following: following.clone(),
            sizes,
            ceiling: config.spending.ceiling(),
            passes: config.passes,
            notices: core.notices(adapters.operators, &config),
            id: process_id("up"),
        };
        run_worker(&mut running, &core, parts).await?;
        Ok(Self {
            core,
            tells_real_operators: config.notices.token.is_some() && config.notices.chat_id.is_some(),
            following,
            base_url: format!("http://{address}"),
            operator_token: keys.operator_token,
            sandbox,
            running,
            database,
        })
    }

    /// A client of this API, as its operator.
    ///
    /// # Errors
    /// [`Failure::Unavailable`] when no client can be made.
    pub fn shop(&self) -> Result<Shop, Failure> {
        let token = self
            .operator_token
            .clone()
            .unwrap_or_else(|| Secret::new(String::new()));
        Shop::new(self.base_url.clone(), token).map_err(Failure::unavailable)
    }

    /// The control interface of the simulators, told where our webhooks are.
    ///
    /// # Errors
    /// [`Failure::Unavailable`] in a live installation, or when the simulators do not answer.
    pub async fn control(&self) -> Result<control::Client, Failure> {
        let sandbox = self
            .sandbox
            .as_ref()
            .ok_or_else(|| Failure::unavailable("a live installation has no simulators"))?;
        let control = control::Client::new(sandbox.addresses()).map_err(Failure::unavailable)?;
        let webhook = format!("{}/v1/payments/webhooks/cryptobot", self.base_url);
        control
            .set_cryptopay_webhook(Some(&webhook))
            .await
            .map_err(Failure::unavailable)?;
        Ok(control)
    }

    /// Has the simulated panel tell us of every change made to its users.
    ///
    /// # Errors
    /// As [`Self::control`].
    pub async fn listen_to_panel(&self) -> Result<(), Failure> {
        let knobs = Knobs {
            webhook_url: Some(format!("{}/v1/panel/webhooks/remnawave", self.base_url)),
            ..Knobs::default()
        };
        let control = self.control().await?;
        control.set_panel_knobs(&knobs).await.map_err(Failure::unavailable)
    }

    /// Whether an order was fulfilled.
    ///
    /// # Errors
    /// [`Failure::Unavailable`] when it cannot be read.
    pub async fn is_fulfilled(&self, order: OrderId) -> Result<bool, Failure> {
        let order = self.core.service.get_order(order).await.map_err(Failure::unavailable)?;
        Ok(order.state == "fulfilled")
    }

    /// Waits for a part that ends by itself.
    pub async fn failed(&mut self) -> Failure {
        self.running.failed().await
    }

    /// Stops everything, the private server last.
    ///
    /// # Errors
    /// The first failure.
    pub async fn stop(self) -> Result<(), Failure> {
        let stopped = self.running.stop().await;
        self.core.pool.close().await;
        self.following.close().await;
        if let Some(sandbox) = self.sandbox {
            sandbox.stop().await;
        }
        stopped.and(self.database.stop().await)
    }
}
