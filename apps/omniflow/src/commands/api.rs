//! `api`: HTTP, and nothing that executes jobs.

use std::{path::PathBuf, process::ExitCode};

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
        processes::{Running, asked_to_stop, listen, run_api, run_detection, run_upkeep},
    },
};

pub(super) async fn run(mut config: Config, data_dir: PathBuf) -> Result<ExitCode, Failure> {
    start_telemetry(&config, "api");
    let database = Database::find(&config, &data_dir).await?;
    let options = database.pool_options("api", config.database.api_connections);
    let connected = connect(&options).await?;
    let adapters = Adapters::build(connected.1, &config, &data_dir)?;
    let keys = keys_of(connected.1, &mut config, &data_dir)?;
    let core = assemble(connected, &options, &adapters, keys.data_key.as_ref())?;

    let metrics = config
        .metrics_enabled
        .then(|| Metrics::install("api"))
        .transpose()
        .map_err(Failure::unavailable)?;
    let (listener, address) = listen(config.http.api).await?;
    if keys.operator_token.is_none() {
        tracing::warn!("APP_OPERATOR_TOKEN is not set: every call of /v1/admin is refused");
    }
    // From here on an end is orderly: what starts below is stopped, not cut off.
    let stop = asked_to_stop();
    let mut running = Running::new();
    metrics
        .clone()
        .into_iter()
        .for_each(|metrics| run_upkeep(&mut running, metrics, vec![("commands", core.pool.clone())]));
    run_api(&mut running, &core, listener, keys.operator_token, metrics);
    run_detection(&mut running, &core, adapters.reader(), config.detection);
    tracing::info!(%address, mode = core.mode.as_str(), "the API listens");
    tokio::select! {
        () = stop => {}
        failure = running.failed() => return Err(failure),
    }
    running.stop().await?;
    Ok(ExitCode::SUCCESS)
}
