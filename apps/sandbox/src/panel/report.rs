//! The oracle: what the journal says happened on the panel, whatever anybody else believes.

use std::{collections::BTreeMap, path::Path};

use domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{Effect, Status, User};
use crate::{SandboxError, journal};

/// What marks a user as made for a subscription.
const OURS: &str = "omniflow:";

/// The panel's journal, summed up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PanelReport {
    /// Users that exist.
    pub users: u64,
    /// Ids of the existing users of each subscription.
    pub users_by_subscription: BTreeMap<String, Vec<i64>>,
    /// Existing users beyond the first of their subscription.
    pub duplicate_users: u64,
    /// Existing users that bear no mark of ours.
    pub foreign_users: u64,
    /// Existing users as last recorded.
    pub last_states: BTreeMap<i64, PanelUserState>,
    /// Carried-out calls by kind: `create`, `update`, `enable`, `disable`, `reset_traffic`, `delete`, `set_traffic`.
    pub calls: BTreeMap<String, u64>,
}

/// A user as last recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PanelUserState {
    pub username: String,
    pub description: Option<String>,
    /// As last set, not by the clock.
    pub status: Status,
    pub expire_at: Timestamp,
    pub traffic_limit_bytes: i64,
    pub hwid_device_limit: Option<i64>,
    pub squads: Vec<Uuid>,
    pub used_traffic_bytes: i64,
}

/// Reads the panel's journal of a data directory. A sandbox may be running on it.
///
/// # Errors
/// The journal cannot be read.
pub fn panel_report(data_dir: &Path) -> Result<PanelReport, SandboxError> {
    of_journal(&journal::path(&journal::dir(data_dir), "panel"))
}

pub(super) fn of_journal(path: &Path) -> Result<PanelReport, SandboxError> {
    let mut report = PanelReport::default();
    journal::read_entries::<Effect>(path, |entry| {
        let calls = report.calls.entry(entry.effect.kind().to_owned()).or_default();
        *calls = calls.saturating_add(1);
        match &entry.effect {
            Effect::UserDeleted { id } => {
                report.last_states.remove(id);
            }
            effect => {
                if let Some(user) = effect.user() {
                    report.last_states.insert(user.id, PanelUserState::from(user));
                }
            }
        }
    })?;
    for (id, user) in &report.last_states {
        match user.description.as_deref().and_then(|text| text.strip_prefix(OURS)) {
            Some(subscription) => report
                .users_by_subscription
                .entry(subscription.to_owned())
                .or_default()
                .push(*id),
            None => report.foreign_users = report.foreign_users.saturating_add(1),
        }
    }
    report.users = count(report.last_states.len());
    report.duplicate_users = report
        .users_by_subscription
        .values()
        .map(|ids| count(ids.len().saturating_sub(1)))
        .sum();
    Ok(report)
}

fn count(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

impl From<&User> for PanelUserState {
    fn from(user: &User) -> Self {
        Self {
            username: user.username.clone(),
            description: user.description.clone(),
            status: user.status,
            expire_at: user.expire_at,
            traffic_limit_bytes: user.traffic_limit_bytes,
            hwid_device_limit: user.hwid_device_limit,
            squads: user.active_internal_squads.clone(),
            used_traffic_bytes: user.used_traffic_bytes,
        }
    }
}
