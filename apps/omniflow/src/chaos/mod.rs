//! A storm over an installation of separate processes: they are killed, stopped, told to end, cut off from their database, and the panel
//! answers nonsense, while orders flow. Afterwards the simulators' journals say what became of every order that was paid for.
//!
//! It is apart because it is the only product code that starts and kills processes of ours. It works on a throw-away cluster alone and
//! must never see a setting of the person who runs it.

mod backlog;
mod blow;
mod buyers;
mod fleet;
mod ground;
mod panel;
mod plan;
mod process;
mod proxy;
mod report;
mod settling;
mod storm;
mod windows;

pub use plan::Plan;
pub use report::Report;
pub use windows::WindowsReport;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    time::Duration,
};

use ground::{Ground, Shape};

use crate::{failure::Failure, wiring::processes::asked_to_stop};

/// What every run needs.
#[derive(Clone, Debug)]
pub struct Site {
    /// The program whose processes are started.
    pub binary: PathBuf,
    /// Made for the run, with everything in it.
    pub folder: PathBuf,
    /// Where the programs of the database server are.
    pub server: BTreeMap<String, String>,
    /// Whether the folder stays.
    pub keep: bool,
}

/// Plays the plan on an installation of two APIs and three workers, and judges it.
///
/// # Errors
/// [`Failure::Unavailable`] when the installation does not come up, [`Failure::No`] when it is interrupted.
pub async fn storm(plan: &Plan, site: &Site) -> Result<Report, Failure> {
    let shape = Shape {
        apis: 2,
        workers: 3,
        jobs: 8,
        proxied: true,
    };
    let mut ground = site.start(shape).await?;
    let outcome = uninterrupted(storm::play(plan, &mut ground)).await;
    ground.stop().await?;
    outcome
}

/// Kills a worker so many times in each window of a goods submission, once an order, and judges what came of the orders.
///
/// # Errors
/// As [`storm()`].
pub async fn windows(crashes: u32, site: &Site) -> Result<WindowsReport, Failure> {
    // One worker and one job at a time, so that a crash is a crash of exactly one order.
    let shape = Shape {
        apis: 1,
        workers: 1,
        jobs: 1,
        proxied: false,
    };
    let mut ground = site.start(shape).await?;
    let outcome = uninterrupted(windows::play(crashes, &mut ground)).await;
    ground.stop().await?;
    outcome
}

/// How long one worker takes to work off so many paid orders.
///
/// # Errors
/// As [`storm()`].
pub async fn backlog(orders: u32, site: &Site) -> Result<Duration, Failure> {
    // As many jobs at once as a worker has when nobody says otherwise.
    let shape = Shape {
        apis: 1,
        workers: 0,
        jobs: 16,
        proxied: false,
    };
    let mut ground = site.start(shape).await?;
    let outcome = uninterrupted(backlog::play(orders, &mut ground)).await;
    ground.stop().await?;
    outcome
}

impl Site {
    async fn start(&self, shape: Shape) -> Result<Ground, Failure> {
        let folder: &Path = &self.folder;
        Ground::start(&self.binary, folder, self.server.clone(), self.keep, shape).await
    }
}

async fn uninterrupted<T>(play: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    tokio::select! {
        outcome = play => outcome,
        () = asked_to_stop() => Err(Failure::No("stopped before it was over".to_owned())),
    }
}
