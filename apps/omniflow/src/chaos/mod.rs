//! A storm over an installation of separate processes: they are killed, stopped, told to end, cut off from their database, and the panel
//! answers nonsense, while orders flow. Afterwards the simulators' journals say what became of every order that was paid for.
//!
//! It is apart because it is the only product code that starts and kills processes of ours. It works on a throw-away cluster alone and
//! must never see a setting of the person who runs it.

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

pub use plan::Plan;
pub use report::Report;

use std::{collections::BTreeMap, path::Path};

use crate::{failure::Failure, wiring::processes::asked_to_stop};

/// Runs the plan on an installation made for it in `folder`, and judges it.
///
/// # Errors
/// [`Failure::Unavailable`] when the installation does not come up, [`Failure::No`] when it is interrupted.
pub async fn run(
    plan: &Plan,
    binary: &Path,
    folder: &Path,
    server: BTreeMap<String, String>,
    keep: bool,
) -> Result<Report, Failure> {
    let mut ground = ground::Ground::start(binary, folder, server, keep).await?;
    let outcome = tokio::select! {
        outcome = storm::play(plan, &mut ground) => outcome,
        () = asked_to_stop() => Err(Failure::No("stopped before the storm was over".to_owned())),
    };
    ground.stop().await?;
    outcome
}
