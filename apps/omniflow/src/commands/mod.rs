//! One file a command.

mod api;
mod audit;
mod bench;
mod chaos;
mod db;
mod deliveries;
mod demo;
mod doctor;
mod drifts;
mod entitlements;
mod events;
mod health;
mod jobs;
mod maintenance;
mod notices;
mod operations;
mod operator;
mod outbox;
mod passes;
mod projections;
mod sandbox;
mod settings;
mod up;
mod worker;

use std::{
    future::Future,
    io::{IsTerminal as _, Write as _},
    process::ExitCode,
};

use clap::CommandFactory as _;

use crate::{
    cli::{Cli, Command},
    config::{Config, LogFormat, Traces, Vars},
    failure::Failure,
    wiring::{database::server_settings, processes::process_id},
};

/// What is logged when RUST_LOG says nothing.
const DEFAULT_FILTER: &str = "info,sqlx=warn,riverqueue=warn,hyper=warn";

/// Prints one line of a command's answer. A reader that went away (a closed pipe) is no failure.
pub(crate) fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    let _closed = writeln!(out, "{line}");
}

/// Runs the command to its exit code.
pub(crate) fn dispatch(cli: Cli) -> Result<ExitCode, Failure> {
    match cli.command {
        Command::Completions { shell } => {
            clap_complete::generate(shell, &mut Cli::command(), "omniflow", &mut std::io::stdout());
            return Ok(ExitCode::SUCCESS);
        }
        Command::Man => {
            clap_mangen::Man::new(Cli::command()).render(&mut std::io::stdout())?;
            return Ok(ExitCode::SUCCESS);
        }
        _ => {}
    }
    let vars = Vars::from_process(cli.env_file.as_deref())?;
    if let Command::Config(command) = &cli.command {
        return Ok(settings::run(command, &vars));
    }
    let config = Config::read(&vars)?;
    let dir = cli.data_dir;
    match cli.command {
        Command::Up(args) => block_on(up::run(args, config, dir)),
        Command::Demo(args) => block_on(demo::run(args, config)),
        Command::Api => block_on(api::run(config, dir)),
        Command::Worker => block_on(worker::run(config, dir)),
        Command::Sandbox => block_on(sandbox::run(dir)),
        Command::Db(command) => block_on(db::run(command, config, dir)),
        Command::Doctor(args) => block_on(doctor::run(args, config, dir)),
        Command::Events(command) => block_on(events::run(command, config, dir)),
        Command::Projections(command) => block_on(projections::run(command, config, dir)),
        Command::Outbox(command) => block_on(outbox::run(command, config, dir)),
        Command::Jobs(command) => block_on(jobs::run(command, config, dir)),
        Command::Operations(command) => block_on(operations::run(command, config, dir)),
        Command::Audit(command) => block_on(audit::run(command, config, dir)),
        Command::Passes(command) => block_on(passes::run(command, config, dir)),
        Command::Deliveries(command) => block_on(deliveries::run(command, config, dir)),
        Command::Entitlements(command) => block_on(entitlements::run(command, config, dir)),
        Command::Health(args) => block_on(health::run(args, config)),
        Command::Maintenance(command) => block_on(maintenance::run(command, config, dir)),
        Command::Drifts(command) => block_on(drifts::run(command, config, dir)),
        Command::Notices(command) => block_on(notices::run(command, config, dir)),
        Command::Config(_) | Command::Completions { .. } | Command::Man => Ok(ExitCode::SUCCESS),
        // Nothing of the settings reaches a storm or a benchmark but where the server programs are.
        Command::Chaos(args) => block_on(chaos::run(args, config)),
        Command::Bench(args) => block_on(bench::run(args, server_settings(&config))),
    }
}

/// Runs on a fresh runtime. The TLS provider is chosen first: reqwest brings none of its own.
fn block_on(command: impl Future<Output = Result<ExitCode, Failure>>) -> Result<ExitCode, Failure> {
    let _already_installed = rustls::crypto::ring::default_provider().install_default();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let outcome = runtime.block_on(command);
    telemetry::flush(FLUSH_LIMIT);
    // Detached work (a blocked name look-up, say) must not hold the process.
    runtime.shutdown_timeout(std::time::Duration::from_secs(2));
    outcome
}

/// How long the last spans may take to leave.
const FLUSH_LIMIT: std::time::Duration = std::time::Duration::from_secs(3);

/// Starts logging to standard error, and tracing where a collector is configured: for processes that serve. `role` names it in traces.
/// A second start in one process changes nothing.
pub(crate) fn start_telemetry(config: &Config, role: &str) {
    start(
        config,
        config
            .traces
            .as_ref()
            .map(|traces| trace_options(traces, role))
            .as_ref(),
    );
}

fn trace_options(traces: &Traces, role: &str) -> telemetry::TraceOptions {
    telemetry::TraceOptions {
        endpoint: traces.endpoint.clone(),
        headers: traces.headers.clone(),
        timeout: traces.timeout,
        delay: traces.delay,
        service_name: traces
            .service_name
            .clone()
            .unwrap_or_else(|| format!("omniflow-{role}")),
        instance: process_id(role),
        sampling: telemetry::Sampling {
            share: traces.share,
            follow_parent: traces.follow_parent,
        },
    }
}

/// Starts logging to standard error. A second start in one process changes nothing.
pub(crate) fn start_logs(config: &Config) {
    start(config, None);
}

fn start(config: &Config, traces: Option<&telemetry::TraceOptions>) {
    let json = match config.log_format {
        LogFormat::Json => true,
        LogFormat::Text => false,
        LogFormat::Auto => !std::io::stderr().is_terminal(),
    };
    let format = if json {
        telemetry::Format::Json
    } else {
        telemetry::Format::Pretty
    };
    let filter = config.log_filter.as_deref().unwrap_or(DEFAULT_FILTER);
    if let Err(error) = telemetry::init(&telemetry::LogOptions { format, filter }, traces) {
        eprintln!("omniflow: logs and traces stay off: {error}");
    }
}
