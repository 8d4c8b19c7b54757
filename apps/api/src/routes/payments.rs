//! Asking for money, asking after it, and deciding about it.

use axum::{Json, extract::State, http::StatusCode};
use chrono::{DateTime, Utc};
use domain::ids::{IntentId, OrderId};
use serde::{Deserialize, Serialize};
use service::{
    PaymentView,
    payments::{manual_decision::ManualDecision, start_payment::StartPayment},
};
use utoipa::ToSchema;
use uuid::Uuid;

use super::reason;
use crate::{
    ApiState,
    extract::{Body, Id, Key, Operator, Request},
    problem::{Problem, ProblemOut},
};

/// Most characters of a description.
const MOST_DESCRIPTION: usize = 500;

/// A request for money.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct StartPaymentIn {
    /// `manual`, `cryptobot`.
    provider: String,
    /// What the customer reads at the provider.
    #[serde(default)]
    description: Option<String>,
}

/// A request for money at a provider.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct PaymentOut {
    id: Uuid,
    order_id: Uuid,
    provider: String,
    /// `pending`, `requires_action`, `processing`, `succeeded`, `failed`, `cancelled`, `expired`.
    status: String,
    amount_minor: i64,
    currency: String,
    provider_reference: Option<String>,
    /// Where the customer pays.
    checkout_url: Option<String>,
}

impl From<PaymentView> for PaymentOut {
    fn from(payment: PaymentView) -> Self {
        Self {
            id: payment.id,
            order_id: payment.order_id,
            provider: payment.provider,
            status: payment.status,
            amount_minor: payment.amount_minor,
            currency: payment.currency,
            provider_reference: payment.provider_reference,
            checkout_url: payment.checkout_url,
        }
    }
}

/// Opens a request for money, or gives the one that is open. While the same request is with the provider a repeat is answered 409.
#[utoipa::path(post, path = "/v1/admin/orders/{id}/payments", operation_id = "startPayment", tag = "payments", request_body = StartPaymentIn,
    params(("id" = Uuid, Path, description = "The order"), ("Idempotency-Key" = String, Header, description = "8 to 128 visible ASCII characters")),
    responses((status = 201, body = PaymentOut), (status = "4XX", body = ProblemOut, content_type = "application/problem+json"), (status = "5XX", body = ProblemOut, content_type = "application/problem+json")),
    security(("operator" = [])))]
pub(super) async fn start(
    State(app): State<ApiState>,
    _: Operator,
    request: Request,
    key: Key,
    Id(order_id): Id<OrderId>,
    Body(body): Body<StartPaymentIn>,
) -> Result<(StatusCode, Json<PaymentOut>), Problem> {
    if body
        .description
        .as_ref()
        .is_some_and(|text| text.chars().count() > MOST_DESCRIPTION)
    {
        return Err(Problem::invalid_request("a description has at most 500 characters"));
    }
    let start = StartPayment {
        order_id,
        provider: body.provider,
        description: body.description,
    };
    let key = key.keyed(&request, &start)?;
    let done = app.service.start_payment(&request.operator(), &key, &start).await?;
    Ok((StatusCode::CREATED, Json(done.value.into())))
}

/// Asks the provider what became of a payment.
#[utoipa::path(post, path = "/v1/admin/payments/{id}/reconcile", operation_id = "reconcilePayment", tag = "payments",
    params(("id" = Uuid, Path, description = "The payment")),
    responses((status = 200, body = PaymentOut), (status = "4XX", body = ProblemOut, content_type = "application/problem+json")), security(("operator" = [])))]
pub(super) async fn reconcile(
    State(app): State<ApiState>,
    _: Operator,
    request: Request,
    Id(id): Id<IntentId>,
) -> Result<Json<PaymentOut>, Problem> {
    let payment = app.service.reconcile_payment(&request.operator(), id.as_uuid()).await?;
    Ok(Json(payment.into()))
}

/// A person's decision.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ManualDecisionIn {
    /// The money is there, or it is not.
    approved: bool,
    /// Who decided.
    #[serde(alias = "operatorID")]
    operator_id: String,
    /// Why.
    reason: String,
}

/// The decision that holds.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct DecisionOut {
    id: Uuid,
    /// `approved` or `rejected`.
    decision: String,
    occurred_at: DateTime<Utc>,
}

/// Decides about a manual payment, once. An approval settles the order.
#[utoipa::path(post, path = "/v1/admin/payments/{id}/manual-decision", operation_id = "decideManualPayment", tag = "payments", request_body = ManualDecisionIn,
    params(("id" = Uuid, Path, description = "The payment"), ("Idempotency-Key" = String, Header, description = "8 to 128 visible ASCII characters")),
    responses((status = 200, body = DecisionOut), (status = "4XX", body = ProblemOut, content_type = "application/problem+json")), security(("operator" = [])))]
pub(super) async fn decide(
    State(app): State<ApiState>,
    _: Operator,
    request: Request,
    key: Key,
    Id(id): Id<IntentId>,
    Body(body): Body<ManualDecisionIn>,
) -> Result<Json<DecisionOut>, Problem> {
    let decision = ManualDecision {
        intent_id: id.as_uuid(),
        approved: body.approved,
        operator_id: reason::required(&body.operator_id, "an operatorId of 1 to 500 characters is required")?,
        reason: reason::required(&body.reason, "a reason of 1 to 500 characters is required")?,
    };
    let key = key.keyed(&request, &decision)?;
    let done = app
        .service
        .manual_decision(&request.operator(), &key, &decision)
        .await?;
    Ok(Json(DecisionOut {
        id: done.value.id,
        decision: done.value.decision,
        occurred_at: done.value.occurred_at,
    }))
}
