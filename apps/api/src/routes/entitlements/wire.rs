//! Entitlements and their changes as JSON.

use chrono::{DateTime, Utc};
use domain::ids::EntitlementId;
use serde::{Deserialize, Deserializer, Serialize};
use service::{
    AcceptedOperation, ChangeEntitlement, ChangeRequest, EntitlementView,
    entitlements::{Fields, OpenOperationView, PlannedChangeView},
};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::{problem::Problem, routes::reason};

/// What is asked. Each operation takes its own fields and no other.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::routes) struct ChangeIn {
    /// `extend` (endsAt), `set_limits` (trafficAllowanceBytes, deviceLimit), `set_squads` (squadIDs), `enable`, `disable`, `reset_traffic`
    /// or `reconcile`.
    operation: String,
    /// Ties the operation to a flow of yours; the request's id when absent.
    correlation_id: Option<String>,
    /// Not to be shown before. Until then the change is in nothing that is pushed, and cancelling the operation drops it.
    effective_at: Option<DateTime<Utc>>,
    /// The new paid end, strictly later than the present one.
    ends_at: Option<DateTime<Utc>>,
    /// At least 1; null is unlimited, absent leaves it as it is.
    #[serde(default, deserialize_with = "named")]
    #[schema(value_type = Option<i64>)]
    #[expect(clippy::option_option, reason = "absent and null mean different things")]
    traffic_allowance_bytes: Option<Option<i64>>,
    /// At least 1; null is unlimited, absent leaves it as it is.
    #[serde(default, deserialize_with = "named")]
    #[schema(value_type = Option<i32>)]
    #[expect(clippy::option_option, reason = "absent and null mean different things")]
    device_limit: Option<Option<i32>>,
    /// The whole set of squads, at most 100; may be empty.
    #[serde(rename = "squadIDs", alias = "squadIds")]
    squad_ids: Option<Vec<String>>,
    /// Why; kept beside the events. No personal data.
    reason: Option<String>,
}

/// A field that is there, null or not.
#[expect(clippy::option_option, reason = "absent and null mean different things")]
fn named<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<T>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

impl ChangeIn {
    /// The change, and the correlation that the caller chose.
    pub(super) fn parse(self, entitlement_id: EntitlementId) -> Result<(ChangeEntitlement, Option<String>), Problem> {
        let text = |text: Option<String>, what| text.map(|text| reason::required(&text, what)).transpose();
        let correlation_id = text(
            self.correlation_id,
            "a correlation id has 1 to 128 printable characters",
        )?;
        if correlation_id.as_ref().is_some_and(|id| id.len() > 128) {
            return Err(Problem::invalid_request(
                "a correlation id has 1 to 128 printable characters",
            ));
        }
        let fields = Fields {
            ends_at: self.ends_at,
            traffic_allowance_bytes: self.traffic_allowance_bytes,
            device_limit: self.device_limit,
            squad_ids: self.squad_ids,
        };
        let change = ChangeEntitlement {
            entitlement_id,
            request: ChangeRequest::parse(&self.operation, fields).map_err(service::Error::from)?,
            effective_at: self.effective_at,
            reason: text(self.reason, "a reason has 1 to 500 characters")?,
        };
        Ok((change, correlation_id))
    }
}

/// Why.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::routes) struct ReasonIn {
    /// Kept beside the events. No personal data.
    pub(super) reason: String,
}

/// What was opened.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::routes) struct AcceptedOut {
    /// The operation.
    id: Uuid,
    entitlement_id: Uuid,
    /// Its kind. A pause is a `disable`, its end an `enable`.
    operation: String,
    /// `pending`; a repeat tells how it stands.
    status: String,
}

impl From<AcceptedOperation> for AcceptedOut {
    fn from(accepted: AcceptedOperation) -> Self {
        Self {
            id: accepted.id,
            entitlement_id: accepted.entitlement_id,
            operation: accepted.operation,
            status: accepted.status,
        }
    }
}

/// An entitlement.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::routes) struct EntitlementOut {
    id: Uuid,
    /// The one remote user it is about.
    subscription_id: Uuid,
    customer_id: Uuid,
    /// Plan as last sold.
    plan_code: String,
    starts_at: Option<DateTime<Utc>>,
    /// Paid end. While it is paused: as it was when the pause began.
    ends_at: Option<DateTime<Utc>>,
    /// How long access stays open after the paid end.
    grace_seconds: i64,
    /// Null is unlimited.
    traffic_allowance_bytes: Option<i64>,
    /// Null is unlimited.
    device_limit: Option<i32>,
    #[serde(rename = "squadIDs")]
    squad_ids: Vec<Uuid>,
    /// `open`, `disabled` or `paused`.
    access: String,
    paused_at: Option<DateTime<Utc>>,
    /// What all ended pauses took.
    paused_seconds: i64,
    /// Version the panel must come to show.
    desired_version: i64,
    /// Version it shows.
    applied_version: i64,
    remote_user_id: Option<i64>,
    /// `active`, `disabled`, `limited`, `expired`, `other`; null before the first push.
    remote_status: Option<String>,
    /// Oldest first.
    open_operations: Vec<OpenOperationOut>,
    planned_changes: Vec<PlannedChangeOut>,
    /// In what respects the panel was last seen to differ.
    open_drifts: Vec<String>,
}

/// An operation that has not ended.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::routes) struct OpenOperationOut {
    id: Uuid,
    operation: String,
    version: i64,
    opened_at: DateTime<Utc>,
    effective_at: Option<DateTime<Utc>>,
}

/// A change whose moment has not come. Cancelling its operation drops it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::routes) struct PlannedChangeOut {
    operation_id: Uuid,
    operation: String,
    effective_at: DateTime<Utc>,
}

impl From<EntitlementView> for EntitlementOut {
    fn from(view: EntitlementView) -> Self {
        Self {
            id: view.id,
            subscription_id: view.subscription_id,
            customer_id: view.customer_id,
            plan_code: view.plan_code,
            starts_at: view.starts_at,
            ends_at: view.ends_at,
            grace_seconds: view.grace_seconds,
            traffic_allowance_bytes: view.traffic_allowance_bytes,
            device_limit: view.device_limit,
            squad_ids: view.squad_ids,
            access: view.access,
            paused_at: view.paused_at,
            paused_seconds: view.paused_seconds,
            desired_version: view.desired_version,
            applied_version: view.applied_version,
            remote_user_id: view.remote_user_id,
            remote_status: view.remote_status,
            open_operations: view.open_operations.into_iter().map(Into::into).collect(),
            planned_changes: view.planned_changes.into_iter().map(Into::into).collect(),
            open_drifts: view.open_drifts,
        }
    }
}

impl From<OpenOperationView> for OpenOperationOut {
    fn from(view: OpenOperationView) -> Self {
        Self {
            id: view.id,
            operation: view.operation,
            version: view.version,
            opened_at: view.opened_at,
            effective_at: view.effective_at,
        }
    }
}

impl From<PlannedChangeView> for PlannedChangeOut {
    fn from(view: PlannedChangeView) -> Self {
        Self {
            operation_id: view.operation_id,
            operation: view.operation,
            effective_at: view.effective_at,
        }
    }
}
