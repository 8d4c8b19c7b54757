//! `chaos`: a storm over a throw-away installation of separate processes, and what became of the orders.

use std::{fmt::Display, process::ExitCode};

use ports::ids::{Ids as _, SystemIds};
use serde::Serialize;

use crate::{
    chaos::{self, Plan, Site},
    cli::ChaosArgs,
    commands::{say, start_logs},
    config::Config,
    failure::Failure,
    wiring::database::server_settings,
};

pub(super) async fn run(args: ChaosArgs, config: Config) -> Result<ExitCode, Failure> {
    start_logs(&config);
    let site = Site {
        binary: std::env::current_exe()?,
        folder: std::env::temp_dir().join(format!("omniflow-chaos-{}", SystemIds.next().simple())),
        server: server_settings(&config),
        keep: args.keep,
    };
    if let Some(crashes) = args.goods_windows {
        let report = chaos::windows(crashes, &site).await?;
        return tell(&report, args.json, report.good());
    }
    let plan = plan(&args);
    // Before anything else: a storm that does not come to its end can be played again too.
    tracing::info!(seed = plan.seed, "the storm begins");
    let report = chaos::storm(&plan, &site).await?;
    tell(&report, args.json, report.good())
}

fn tell<R: Serialize + Display>(report: &R, json: bool, good: bool) -> Result<ExitCode, Failure> {
    if json {
        say(&serde_json::to_string(report).map_err(Failure::unavailable)?);
    } else {
        say(&report.to_string());
    }
    Ok(if good { ExitCode::SUCCESS } else { ExitCode::from(1) })
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
