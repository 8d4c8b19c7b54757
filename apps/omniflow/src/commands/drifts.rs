//! `drifts list`: where the panel differs, or differed, from what it must show.

use std::{path::PathBuf, process::ExitCode};

use serde_json::json;
use store::drifts::{self, DriftRow};

use crate::{
    cli::DriftsCommand,
    commands::{events::plain, say},
    config::Config,
    failure::Failure,
    wiring::database::Database,
};

pub(super) async fn run(command: DriftsCommand, config: Config, data_dir: PathBuf) -> Result<ExitCode, Failure> {
    let DriftsCommand::List { all, limit, json } = command;
    let database = Database::find(&config, &data_dir).await?;
    let (pool, _mode) = database.checked_pool("drifts", 2).await?;
    let status = (!all).then_some("open");
    for drift in drifts::list(&pool, status, None, i64::from(limit)).await? {
        if json {
            say(&as_json(&drift).to_string());
        } else {
            say(&as_text(&drift));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn as_json(drift: &DriftRow) -> serde_json::Value {
    json!({
        "id": drift.id,
        "entitlementId": drift.entitlement_id,
        "subscriptionId": drift.subscription_id,
        "kind": drift.kind,
        "expected": drift.expected,
        "observed": drift.observed,
        "status": drift.status,
        "detectedAt": drift.detected_at,
        "resolvedAt": drift.resolved_at,
    })
}

fn as_text(drift: &DriftRow) -> String {
    let until = drift.resolved_at.map_or_else(String::new, |at| {
        format!("  {} {}", drift.status, at.format("%Y-%m-%d %H:%M:%S"))
    });
    plain(&format!(
        "{:>8} {} {:<14} {}  expected {}, observed {}{until}",
        drift.id,
        drift.detected_at.format("%Y-%m-%d %H:%M:%S"),
        drift.kind,
        drift.entitlement_id,
        drift.expected,
        drift.observed,
    ))
}
