//! A person's verdict on parked goods.

use axum::{Json, extract::State};
use domain::ids::OrderId;
use serde::{Deserialize, Serialize};
use service::ResolveDelivery;
use utoipa::ToSchema;
use uuid::Uuid;

use super::reason;
use crate::{
    ApiState,
    extract::{Body, Id, Key, Operator, Request},
    problem::{Problem, ProblemOut},
};

/// What the person found out.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ResolveDeliveryIn {
    /// The recipient has the goods, or not.
    delivered: bool,
    /// How the person knows.
    reason: String,
}

/// A delivery.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct DeliveryOut {
    order_id: Uuid,
    /// `delivered` or `failed`.
    state: String,
    attempts: i32,
    /// Money owed back; 0 when the goods came.
    refund_owed_minor: i64,
}

/// Ends a parked delivery.
#[utoipa::path(post, path = "/v1/admin/deliveries/{id}/resolve", operation_id = "resolveDelivery", tag = "deliveries", request_body = ResolveDeliveryIn,
    params(("id" = Uuid, Path, description = "The order"), ("Idempotency-Key" = String, Header, description = "8 to 128 visible ASCII characters")),
    responses((status = 200, body = DeliveryOut), (status = "4XX", body = ProblemOut, content_type = "application/problem+json")), security(("operator" = [])))]
pub(super) async fn resolve(
    State(app): State<ApiState>,
    _: Operator,
    request: Request,
    key: Key,
    Id(order_id): Id<OrderId>,
    Body(body): Body<ResolveDeliveryIn>,
) -> Result<Json<DeliveryOut>, Problem> {
    let verdict = ResolveDelivery {
        order_id,
        delivered: body.delivered,
        reason: reason::required(&body.reason, "a reason of 1 to 500 characters is required")?,
    };
    let key = key.keyed(&request, &verdict)?;
    let done = app
        .service
        .resolve_delivery(&request.operator(), &key, &verdict)
        .await?;
    Ok(Json(DeliveryOut {
        order_id: done.value.order_id,
        state: done.value.state,
        attempts: done.value.attempts,
        refund_owed_minor: done.value.refund_owed_minor,
    }))
}
