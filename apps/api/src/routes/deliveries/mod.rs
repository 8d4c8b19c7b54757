//! Digital goods: what is owed, what waits for a person, and the decisions that only a person can make.

mod wire;

use axum::{Json, extract::State, http::StatusCode};
use domain::ids::OrderId;
use serde::Deserialize;
use service::{CancelDelivery, ResolveDelivery};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use super::{
    orders::{Positioned, limit, positioned},
    reason,
};
use crate::{
    ApiState,
    extract::{Body, Id, Key, Operator, Request, Search},
    problem::{Problem, ProblemOut},
};

use wire::{DeliveryDetailOut, DeliveryListOut, DeliveryOut};

/// Which deliveries.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct DeliverySearch {
    /// `needs_review`, `refund_owed` (ended without goods, whatever the state), `owed`, `submitting`, `accepted`, `retry_wait`, `delivered`,
    /// `failed`, `cancelled`. Absent is all.
    state: Option<String>,
    /// 1 to 200; anything else reads 50.
    limit: Option<String>,
    /// `next` of the page before.
    cursor: Option<String>,
}

/// Deliveries, newest order first. `position` says how far the list has followed the log.
#[utoipa::path(get, path = "/v1/admin/deliveries", operation_id = "listDeliveries", tag = "deliveries", params(DeliverySearch),
    responses((status = 200, body = DeliveryListOut), (status = "4XX", body = ProblemOut, content_type = "application/problem+json")), security(("operator" = [])))]
pub(super) async fn list(
    State(app): State<ApiState>,
    _: Operator,
    Search(search): Search<DeliverySearch>,
) -> Result<Positioned<DeliveryListOut>, Problem> {
    let listed = wire::listed(search.state.as_deref())?;
    let before = search.cursor.as_deref().map(cursor).transpose()?;
    let limit = limit(search.limit.as_deref(), 50, 200);
    let page = app.service.list_deliveries(&listed, before, limit).await?;
    Ok(positioned(Some(page.position), DeliveryListOut::new(page.rows, limit)))
}

fn cursor(text: &str) -> Result<Uuid, Problem> {
    text.parse()
        .map_err(|_| Problem::new(StatusCode::BAD_REQUEST, "invalid_cursor", "the cursor is none of ours"))
}

/// One delivery as it is now, with what happened to it.
#[utoipa::path(get, path = "/v1/admin/deliveries/{id}", operation_id = "getDelivery", tag = "deliveries",
    params(("id" = Uuid, Path, description = "The order")),
    responses((status = 200, body = DeliveryDetailOut), (status = "4XX", body = ProblemOut, content_type = "application/problem+json")), security(("operator" = [])))]
pub(super) async fn get(
    State(app): State<ApiState>,
    _: Operator,
    Id(order_id): Id<OrderId>,
) -> Result<Json<DeliveryDetailOut>, Problem> {
    Ok(Json(app.service.get_delivery(order_id).await?.into()))
}

/// What the person found out.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ResolveDeliveryIn {
    /// The recipient has the goods, or not.
    delivered: bool,
    /// How the person knows.
    reason: String,
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
    Ok(Json(done.value.into()))
}

/// Why a delivery is withdrawn.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct CancelDeliveryIn {
    /// In a person's words.
    reason: String,
}

/// Withdraws a delivery of which surely nothing was bought; what was paid becomes a visible debt.
#[utoipa::path(post, path = "/v1/admin/deliveries/{id}/cancel", operation_id = "cancelDelivery", tag = "deliveries", request_body = CancelDeliveryIn,
    params(("id" = Uuid, Path, description = "The order"), ("Idempotency-Key" = String, Header, description = "8 to 128 visible ASCII characters")),
    responses((status = 200, body = DeliveryOut), (status = "4XX", body = ProblemOut, content_type = "application/problem+json")), security(("operator" = [])))]
pub(super) async fn cancel(
    State(app): State<ApiState>,
    _: Operator,
    request: Request,
    key: Key,
    Id(order_id): Id<OrderId>,
    Body(body): Body<CancelDeliveryIn>,
) -> Result<Json<DeliveryOut>, Problem> {
    let withdrawn = CancelDelivery {
        order_id,
        reason: reason::required(&body.reason, "a reason of 1 to 500 characters is required")?,
    };
    let key = key.keyed(&request, &withdrawn)?;
    let done = app
        .service
        .cancel_delivery(&request.operator(), &key, &withdrawn)
        .await?;
    Ok(Json(done.value.into()))
}
