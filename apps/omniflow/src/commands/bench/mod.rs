//! `bench`: the core against plain SQL that does the same work the classic way (begin, loads, inserts, commit), on the same database, in
//! the same minute. Rates differ between machines by an order of magnitude and within one by the load of its disk; ratios hold.

mod append;
mod drain;
mod fulfillment;
mod ground;
mod interleave;
mod jobs;
mod latency;
mod latency_worker;
mod publish;
mod rebuild;
mod replay;
mod report;
mod retention;
mod seed;
mod settle;
mod settle_raw;

use std::{collections::BTreeMap, fmt::Display, path::Path, process::ExitCode, time::Duration};

pub(crate) use ground::Ground;
pub(crate) use interleave::{Shape, Side, compare};
pub(crate) use report::Report;

use ports::ids::{Ids as _, SystemIds};
use serde::Serialize;

use crate::{
    cli::{BenchArgs, Scenario},
    commands::say,
    failure::Failure,
};

/// Runs the scenarios one after the other, each on a server of its own, and prints a line for each.
pub(crate) async fn run(args: BenchArgs, settings: BTreeMap<String, String>) -> Result<ExitCode, Failure> {
    if args.scenario == [Scenario::LatencyWorker] {
        return latency_worker::run().await;
    }
    let folder = std::env::temp_dir().join(format!("omniflow-bench-{}", SystemIds.next().simple()));
    let outcome = run_in(&args, &folder, &settings).await;
    std::fs::remove_dir_all(&folder).ok();
    outcome
}

async fn run_in(args: &BenchArgs, folder: &Path, settings: &BTreeMap<String, String>) -> Result<ExitCode, Failure> {
    let shape = Shape {
        rounds: args.rounds,
        span: Duration::from_secs(args.seconds.into()),
        tasks: args.tasks,
    };
    for scenario in &args.scenario {
        if *scenario == Scenario::Fulfillment {
            tell(&fulfillment::run(folder, settings.clone()).await?, args.json)?;
            continue;
        }
        let ground = Ground::start(folder.to_owned(), settings.clone()).await?;
        let outcome = match scenario {
            Scenario::Retention => retention::run(&ground, args.rows)
                .await
                .map(|report| tell(&report, true)),
            Scenario::Drain => drain::run(&ground).await.map(|drained| tell(&drained, args.json)),
            _ => one(*scenario, args, shape, &ground)
                .await
                .map(|report| tell(&report, args.json)),
        };
        ground.stop().await?;
        outcome??;
    }
    Ok(ExitCode::SUCCESS)
}

fn tell<R: Serialize + Display>(report: &R, json: bool) -> Result<(), Failure> {
    if json {
        say(&serde_json::to_string(report).map_err(Failure::unavailable)?);
    } else {
        say(&report.to_string());
    }
    Ok(())
}

async fn one(scenario: Scenario, args: &BenchArgs, shape: Shape, ground: &Ground) -> Result<Report, Failure> {
    match scenario {
        Scenario::Append => append::run(ground, shape).await,
        Scenario::Settle => settle::run(ground, shape).await,
        Scenario::Replay => replay::run(ground, shape, args.events).await,
        Scenario::Publish => publish::run(ground, shape).await,
        Scenario::Latency => latency::run(ground, shape, args.per_second).await,
        Scenario::Rebuild => rebuild::run(ground, shape, args.events).await,
        Scenario::Jobs => jobs::run(ground, shape).await,
        Scenario::Drain | Scenario::Fulfillment | Scenario::Retention | Scenario::LatencyWorker => {
            Err(Failure::Usage("this is no comparison".to_owned()))
        }
    }
}
