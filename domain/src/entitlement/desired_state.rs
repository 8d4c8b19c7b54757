//! What the panel must show.

use sha2::{Digest as _, Sha256};

use super::{Change, Entitlement};
use crate::{
    ids::SubscriptionId,
    plan::Limits,
    time::{Timestamp, plus_seconds},
};

/// The newest due desired state of an entitlement at one moment: what a run pushes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DesiredState {
    /// Version that a successful push applies.
    pub version: i64,
    /// Paid end plus grace: an absolute instant.
    pub expire_at: Timestamp,
    /// What may be used.
    pub limits: Limits,
    /// A change between the applied version and this one starts used traffic anew.
    pub reset_traffic: bool,
}

impl Change {
    fn is_due(&self, now: Timestamp) -> bool {
        self.effective_at.is_none_or(|effective_at| effective_at <= now)
    }
}

impl Entitlement {
    /// The newest desired state that is due at `now`; `None` when nothing is due yet.
    pub fn desired_at(&self, now: Timestamp) -> Option<DesiredState> {
        let change = self.changes.iter().rev().find(|change| change.is_due(now))?;
        let unseen = self.applied_version.saturating_add(1)..=change.version;
        Some(DesiredState {
            version: change.version,
            // The sum was checked when the change was decided.
            expire_at: plus_seconds(change.ends_at, change.grace_seconds).unwrap_or(change.ends_at),
            limits: change.limits.clone(),
            reset_traffic: self
                .changes
                .iter()
                .any(|one| one.reset_traffic && unseen.contains(&one.version)),
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
