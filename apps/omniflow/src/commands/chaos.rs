//! `chaos`: a storm over a throw-away installation of separate processes, and what became of the orders.

use std::process::ExitCode;

use ports::ids::{Ids as _, SystemIds};

use crate::{
    chaos::{self, Plan},
    cli::ChaosArgs,
    commands::{say, start_logs},
    config::Config,
    failure::Failure,
    wiring::database::server_settings,
};

pub(super) async fn run(args: ChaosArgs, config: Config) -> Result<ExitCode, Failure> {
    start_logs(&config);
    let plan = plan(&args);
    // Before anything else: a storm that does not come to its end can be played again too.
    tracing::info!(seed = plan.seed, "the storm begins");
    let folder = std::env::temp_dir().join(format!("omniflow-chaos-{}", SystemIds.next().simple()));
    let binary = std::env::current_exe()?;
    let report = chaos::run(&plan, &binary, &folder, server_settings(&config), args.keep).await?;
    if args.json {
        say(&serde_json::to_string(&report).map_err(Failure::unavailable)?);
    } else {
        say(&report.to_string());
    }
    Ok(if report.good() {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(1)
    })
}

fn plan(args: &ChaosArgs) -> Plan {
    let seed = args.seed.unwrap_or_else(rand::random);
    let goods = args.goods.unwrap_or(args.orders / 10);
    let usual = Plan::of(seed, args.orders, goods, args.kills);
    Plan {
        pauses: args.pauses.unwrap_or(usual.pauses),
        stops: args.stops.unwrap_or(usual.stops),
        server_kills: args.server_kills.unwrap_or(usual.server_kills),
        cuts: args.cuts.unwrap_or(usual.cuts),
        lost_acks: args.lost_acks.unwrap_or(usual.lost_acks),
        panel_trouble: usual.panel_trouble && !args.calm_panel,
        ..usual
    }
}
