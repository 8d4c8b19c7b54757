//! `worker`: jobs, passes, the publisher, the projections.

use std::{path::PathBuf, process::ExitCode};

use queue::QueueSizes;
use store::general_pool;
use telemetry::Metrics;

use crate::{
    commands::start_telemetry,
    config::Config,
    failure::Failure,
    wiring::{
        adapters::Adapters,
        core::{assemble, connect},
        database::Database,
        keys::keys_of,
        processes::{
            FOLLOWING_CONNECTIONS, Running, WorkerParts, asked_to_stop, listen, process_id, run_health, run_upkeep,
            run_worker, worker_connections,
        },
    },
};

pub(super) async fn run(mut config: Config, data_dir: PathBuf) -> Result<ExitCode, Failure> {
    start_telemetry(&config, "worker");
    let database = Database::find(&config, &data_dir).await?;
    let sizes = QueueSizes {
        critical: config.queues.critical,
        default: config.queues.default,
        bulk: config.queues.bulk,
    };
    let options = database.pool_options("worker", worker_connections(sizes));
    let connected = connect(&options).await?;
    let adapters = Adapters::build(connected.1, &config, &data_dir)?;
    let keys = keys_of(connected.1, &mut config, &data_dir)?;
    let core = assemble(connected, &options, &adapters, keys.data_key.as_ref())?;
    let panel = adapters.panel.ok_or_else(|| {
        Failure::Usage("a worker needs the panel: set APP_REMNAWAVE_URL and APP_REMNAWAVE_TOKEN".to_owned())
    })?;

    let metrics = config
        .metrics_enabled
        .then(|| Metrics::install("worker"))
        .transpose()
        .map_err(Failure::unavailable)?;
    // From here on an end is orderly: what starts below is stopped, not cut off.
    let stop = asked_to_stop();
    let mut running = Running::new();
    metrics
        .clone()
        .into_iter()
        .for_each(|metrics| run_upkeep(&mut running, metrics, vec![("commands", core.pool.clone())]));
    let listener = match config.http.worker {
        Some(address) => Some(listen(address).await?.0),
        None => None,
    };
    let following = general_pool(&database.pool_options("follow", FOLLOWING_CONNECTIONS)).await?;
    let connect = database.pool_options("publish", 2);
    let parts = WorkerParts {
        panel,
        connect,
        following,
        sizes,
        ceiling: config.spending.ceiling(),
        passes: config.passes,
        notices: core.notices(adapters.operators, &config),
        id: process_id("worker"),
    };
    let known = run_worker(&mut running, &core, parts).await?;
    if let Some(listener) = listener {
        run_health(&mut running, &core, listener, metrics, known);
    }
    tracing::info!(
        mode = core.mode.as_str(),
        connections = options.size.saturating_add(FOLLOWING_CONNECTIONS).saturating_add(3),
        "the worker works"
    );
    tokio::select! {
        () = stop => {}
        failure = running.failed() => return Err(failure),
    }
    running.stop().await?;
    Ok(ExitCode::SUCCESS)
}
