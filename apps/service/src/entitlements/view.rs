//! Reading one entitlement: its stream is folded, so the answer is always current.

use domain::{
    entitlement::{Access, Entitlement, Outcome, RemoteStatus},
    ids::EntitlementId,
    time::Timestamp,
};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{Error, Refusal, Service};

/// An entitlement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EntitlementView {
    /// The entitlement.
    pub id: Uuid,
    /// The one remote user it is about.
    pub subscription_id: Uuid,
    /// Whose right it is.
    pub customer_id: Uuid,
    /// Plan as last sold.
    pub plan_code: String,
    /// Begin of the first period.
    pub starts_at: Option<Timestamp>,
    /// Paid end. While it is paused: as it was when the pause began.
    pub ends_at: Option<Timestamp>,
    /// How long access stays open after it.
    pub grace_seconds: i64,
    /// Bytes; absent is unlimited.
    pub traffic_allowance_bytes: Option<i64>,
    /// Devices at once; absent is unlimited.
    pub device_limit: Option<i32>,
    /// Squads of the panel.
    pub squad_ids: Vec<Uuid>,
    /// `open`, `disabled` or `paused`.
    pub access: String,
    /// Begin of the pause it is in.
    pub paused_at: Option<Timestamp>,
    /// What all ended pauses took.
    pub paused_seconds: i64,
    /// Version the panel must come to show.
    pub desired_version: i64,
    /// Version it shows.
    pub applied_version: i64,
    /// The panel's key of the user.
    pub remote_user_id: Option<i64>,
    /// What the panel last said of it: `active`, `disabled`, `limited`, `expired`, `other`.
    pub remote_status: Option<String>,
    /// Operations that have not ended, oldest first.
    pub open_operations: Vec<OpenOperationView>,
    /// Changes whose moment has not come.
    pub planned_changes: Vec<PlannedChangeView>,
    /// In what respects the panel was last seen to differ.
    pub open_drifts: Vec<String>,
}

/// An operation that has not ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OpenOperationView {
    /// The operation.
    pub id: Uuid,
    /// Its kind.
    pub operation: String,
    /// Desired version it is for.
    pub version: i64,
    /// When it was opened.
    pub opened_at: Timestamp,
    /// Not to be shown before.
    pub effective_at: Option<Timestamp>,
}

/// A change whose moment has not come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlannedChangeView {
    /// The operation that will show it: cancelling that drops the change.
    pub operation_id: Uuid,
    /// Its kind.
    pub operation: String,
    /// Its moment.
    pub effective_at: Timestamp,
}

impl Service {
    /// One entitlement.
    ///
    /// # Errors
    /// [`Error::Refused`] (`entitlement_not_found`) or a fault of the store.
    pub async fn get_entitlement(&self, id: EntitlementId) -> Result<EntitlementView, Error> {
        let folded = self.store.fold::<Entitlement>(id.as_uuid()).await?;
        if folded.state.is_granted() {
            Ok(view(&folded.state))
        } else {
            Err(not_found().into())
        }
    }
}

pub(super) const fn not_found() -> Refusal {
    Refusal::new(404, "entitlement_not_found", "the entitlement does not exist")
}

fn view(state: &Entitlement) -> EntitlementView {
    let limits = state.limits();
    EntitlementView {
        id: state.entitlement_id.as_uuid(),
        subscription_id: state.subscription_id.as_uuid(),
        customer_id: state.customer_id.as_uuid(),
        plan_code: state
            .terms
            .as_ref()
            .map(|terms| terms.plan_code.clone())
            .unwrap_or_default(),
        starts_at: state.starts_at,
        ends_at: state.ends_at,
        grace_seconds: state.grace_seconds(),
        traffic_allowance_bytes: limits.traffic_bytes,
        device_limit: limits.devices,
        squad_ids: limits.squads,
        access: match state.access() {
            Access::Open => "open",
            Access::Disabled => "disabled",
            Access::Paused => "paused",
        }
        .to_owned(),
        paused_at: state.paused_at,
        paused_seconds: state.paused_seconds,
        desired_version: state.desired_version(),
        applied_version: state.applied_version,
        remote_user_id: state.remote_user_id,
        remote_status: state.remote_status.map(|status| remote(status).to_owned()),
        open_operations: open_operations(state),
        planned_changes: planned_changes(state),
        open_drifts: state.open_drifts.keys().map(|kind| kind.as_str().to_owned()).collect(),
    }
}

fn open_operations(state: &Entitlement) -> Vec<OpenOperationView> {
    let open = state.operations.iter().filter(|(_, one)| one.outcome == Outcome::Open);
    let mut open: Vec<OpenOperationView> = open
        .map(|(id, one)| OpenOperationView {
            id: id.as_uuid(),
            operation: one.kind.as_str().to_owned(),
            version: one.version,
            opened_at: one.opened_at,
            effective_at: one.effective_at,
        })
        .collect();
    open.sort_by_key(|one| (one.opened_at, one.id));
    open
}

fn planned_changes(state: &Entitlement) -> Vec<PlannedChangeView> {
    let planned = state.planned.iter().map(|one| PlannedChangeView {
        operation_id: one.operation_id.as_uuid(),
        operation: one.asked.operation().as_str().to_owned(),
        effective_at: one.effective_at,
    });
    planned.collect()
}

const fn remote(status: RemoteStatus) -> &'static str {
    match status {
        RemoteStatus::Active => "active",
        RemoteStatus::Disabled => "disabled",
        RemoteStatus::Limited => "limited",
        RemoteStatus::Expired => "expired",
        RemoteStatus::Other => "other",
    }
}
