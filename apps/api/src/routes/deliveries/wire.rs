//! Deliveries as answers show them. Recipients are personal data and never among them.

use axum::http::StatusCode;
use chrono::{DateTime, Utc};
use serde::Serialize;
use service::{DeliveryDetail, DeliveryStep, DeliveryView};
use store::delivery_list::{DeliveryRow, Listed};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::problem::Problem;

const STATES: [&str; 8] = [
    "needs_review",
    "owed",
    "submitting",
    "accepted",
    "retry_wait",
    "delivered",
    "failed",
    "cancelled",
];

/// Reads a filter.
pub(super) fn listed(state: Option<&str>) -> Result<Listed, Problem> {
    match state {
        None => Ok(Listed::All),
        Some("refund_owed") => Ok(Listed::RefundOwed),
        Some(state) if STATES.contains(&state) => Ok(Listed::State(state.to_owned())),
        Some(_) => Err(Problem::new(
            StatusCode::BAD_REQUEST,
            "invalid_state",
            "there is no such state of a delivery",
        )),
    }
}

/// A delivery after a decision.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DeliveryOut {
    order_id: Uuid,
    /// `pending`, `submitted`, `needs_review`, `delivered`, `failed` or `cancelled`.
    state: String,
    attempts: i32,
    /// Money owed back; 0 when the goods came.
    refund_owed_minor: i64,
}

impl From<DeliveryView> for DeliveryOut {
    fn from(view: DeliveryView) -> Self {
        Self {
            order_id: view.order_id,
            state: view.state,
            attempts: view.attempts,
            refund_owed_minor: view.refund_owed_minor,
        }
    }
}

/// A delivery of the list.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DeliveryRowOut {
    order_id: Uuid,
    customer_id: Uuid,
    provider: String,
    product_code: String,
    state: String,
    attempts: i32,
    #[serde(skip_serializing_if = "Option::is_none")]
    provider_reference: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure_class: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_code: Option<String>,
    /// Money owed back; 0 where nothing is.
    refund_owed_minor: i64,
    currency: String,
    owed_at: DateTime<Utc>,
    #[serde(skip_serializing_if = "Option::is_none")]
    closed_at: Option<DateTime<Utc>>,
}

impl From<DeliveryRow> for DeliveryRowOut {
    fn from(row: DeliveryRow) -> Self {
        Self {
            order_id: row.order_id,
            customer_id: row.customer_id,
            provider: row.provider,
            product_code: row.product_code,
            state: row.state,
            attempts: row.attempts,
            provider_reference: row.provider_reference,
            failure_class: row.failure_class,
            error_code: row.error_code,
            refund_owed_minor: row.refund_owed_minor,
            currency: row.currency,
            owed_at: row.owed_at,
            closed_at: row.closed_at,
        }
    }
}

/// A page of deliveries.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DeliveryListOut {
    items: Vec<DeliveryRowOut>,
    /// `cursor` of the next page; absent on the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

impl DeliveryListOut {
    pub(super) fn new(rows: Vec<DeliveryRow>, limit: i64) -> Self {
        let full = i64::try_from(rows.len()).is_ok_and(|count| count == limit);
        let next = rows.last().filter(|_| full).map(|row| row.order_id.to_string());
        Self {
            items: rows.into_iter().map(Into::into).collect(),
            next,
        }
    }
}

/// One thing that happened to a delivery.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DeliveryStepOut {
    event: String,
    at: DateTime<Utc>,
    #[serde(skip_serializing_if = "Option::is_none")]
    attempt: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure_class: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_at: Option<DateTime<Utc>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reference: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

impl From<DeliveryStep> for DeliveryStepOut {
    fn from(step: DeliveryStep) -> Self {
        Self {
            event: step.event,
            at: step.at,
            attempt: step.attempt,
            failure_class: step.failure_class.map(str::to_owned),
            code: step.code,
            retry_at: step.retry_at,
            reference: step.reference,
            reason: step.reason,
        }
    }
}

/// A delivery with its history.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DeliveryDetailOut {
    order_id: Uuid,
    customer_id: Uuid,
    provider: String,
    product_code: String,
    state: String,
    attempts: i32,
    /// What was paid.
    price_minor: i64,
    /// Money owed back; 0 where nothing is.
    refund_owed_minor: i64,
    currency: String,
    /// What a person may do now: `resolve` or `cancel`.
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<String>,
    history: Vec<DeliveryStepOut>,
}

impl From<DeliveryDetail> for DeliveryDetailOut {
    fn from(detail: DeliveryDetail) -> Self {
        Self {
            order_id: detail.delivery.order_id,
            customer_id: detail.customer_id,
            provider: detail.provider,
            product_code: detail.product_code,
            state: detail.delivery.state,
            attempts: detail.delivery.attempts,
            price_minor: detail.price_minor,
            refund_owed_minor: detail.delivery.refund_owed_minor,
            currency: detail.currency,
            decision: detail.decision.map(str::to_owned),
            history: detail.history.into_iter().map(Into::into).collect(),
        }
    }
}
