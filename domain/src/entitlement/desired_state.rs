//! What the panel must show.

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::{Change, Entitlement};
use crate::{
    ids::SubscriptionId,
    plan::Limits,
    time::{Timestamp, plus_seconds},
};

/// Whether the remote user may connect while the right lasts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// It may.
    #[default]
    Open,
    /// An operator shut it.
    Disabled,
    /// The right is paused.
    Paused,
}

/// The newest due desired state of an entitlement at one moment: what a run pushes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DesiredState {
    /// Version that a successful push applies.
    pub version: i64,
    /// Paid end plus grace: an absolute instant.
    pub expire_at: Timestamp,
    /// What may be used.
    pub limits: Limits,
    /// Whether the user may connect until then.
    pub access: Access,
    /// A change between the applied version and this one opens a user that was shut by hand.
    pub opens: bool,
    /// A change between the applied version and this one, made then, starts used traffic anew.
    pub reset_traffic: Option<Timestamp>,
}

impl DesiredState {
    /// Can be shown. What is stored was decided by these rules; what was not, was written by somebody else.
    pub fn is_valid(&self) -> bool {
        self.version > 0 && self.limits.are_valid()
    }
}

impl Change {
    fn is_due(&self, now: Timestamp) -> bool {
        self.effective_at.is_none_or(|effective_at| effective_at <= now)
    }
}

impl Entitlement {
    /// The newest desired state that is due at `now`; `None` when nothing is due yet. Planned changes are in it once they took effect.
    pub fn desired_at(&self, now: Timestamp) -> Option<DesiredState> {
        let change = self.changes.iter().rev().find(|change| change.is_due(now))?;
        let unseen = self.applied_version.saturating_add(1)..=change.version;
        let news = || self.changes.iter().filter(|one| unseen.contains(&one.version));
        Some(DesiredState {
            version: change.version,
            // The sum was checked when the change was decided.
            expire_at: plus_seconds(change.ends_at, change.grace_seconds).unwrap_or(change.ends_at),
            limits: change.limits.clone(),
            access: change.access,
            opens: news().any(|one| one.opens),
            reset_traffic: news().filter(|one| one.reset_traffic).map(|one| one.at).max(),
        })
    }
}

/// Name of the remote user of a subscription: a digest, because the ids of one second share their first half.
pub fn remote_username(subscription_id: SubscriptionId) -> String {
    let digest = Sha256::digest(subscription_id.as_uuid().as_bytes());
    digest
        .iter()
        .take(10)
        .fold("omniflow_".to_owned(), |name, byte| format!("{name}{byte:02x}"))
}

/// What marks a remote user as ours.
pub fn remote_description(subscription_id: SubscriptionId) -> String {
    format!("omniflow:{subscription_id}")
}
