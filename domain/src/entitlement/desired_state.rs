//! What the panel must show.

use crate::{ids::SubscriptionId, plan::Limits, time::Timestamp};

/// The newest due desired state of an entitlement at one moment: what a run pushes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DesiredState {
    /// Version that a successful push applies.
    pub version: i64,
    /// Paid end plus grace: an absolute instant.
    pub expire_at: Timestamp,
    pub limits: Limits,
    /// A change between the applied version and this one starts used traffic anew.
    pub reset_traffic: bool,
}

/// Name of the remote user of a subscription.
pub fn remote_username(subscription_id: SubscriptionId) -> String {
    format!("omniflow_{}", subscription_id.as_uuid().simple())
}

/// What marks a remote user as ours.
pub fn remote_description(subscription_id: SubscriptionId) -> String {
    format!("omniflow:{subscription_id}")
}
