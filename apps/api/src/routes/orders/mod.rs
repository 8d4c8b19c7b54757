//! Orders, as an operator places, reads and withdraws them.

mod wire;

use axum::{Json, extract::State, http::StatusCode, response::AppendHeaders};
use domain::ids::OrderId;
use serde::Deserialize;
use store::read_model::OrderFilter;

use crate::{
    ApiState,
    extract::{AtLeast, Body, Id, Key, Operator, Request, Search},
    problem::{Problem, ProblemOut},
    routes::reason,
};

use wire::{OrderListOut, OrderOut, PlaceOrderIn};

/// Rows of a list when nobody says how many.
const DEFAULT_LIMIT: i64 = 50;
/// Name of the header with the position of the log that an answer reached.
const POSITION: &str = "position";

pub(in crate::routes) type Positioned<T> = (AppendHeaders<Option<(&'static str, String)>>, Json<T>);

/// The header is absent where nothing was appended.
pub(in crate::routes) fn positioned<T>(position: Option<i64>, body: T) -> Positioned<T> {
    (
        AppendHeaders(position.map(|position| (POSITION, position.to_string()))),
        Json(body),
    )
}

/// Places an order. An order that costs nothing is born paid.
#[utoipa::path(post, path = "/v1/admin/orders", operation_id = "placeOrder", tag = "orders", request_body = PlaceOrderIn,
    params(("Idempotency-Key" = String, Header, description = "8 to 128 visible ASCII characters")),
    responses((status = 201, body = OrderOut), (status = "4XX", body = ProblemOut, content_type = "application/problem+json"), (status = "5XX", body = ProblemOut, content_type = "application/problem+json")),
    security(("operator" = [])))]
pub(super) async fn place(
    State(app): State<ApiState>,
    _: Operator,
    request: Request,
    key: Key,
    Body(body): Body<PlaceOrderIn>,
) -> Result<(StatusCode, Positioned<OrderOut>), Problem> {
    let order = body.parse()?;
    let key = key.keyed(&request, &order)?;
    let done = app.service.place_order(&request.operator(), &key, &order).await?;
    Ok((StatusCode::CREATED, positioned(done.position, done.value.into())))
}

/// One order, as it is now.
#[utoipa::path(get, path = "/v1/admin/orders/{id}", operation_id = "getOrder", tag = "orders",
    params(("id" = uuid::Uuid, Path, description = "The order")),
    responses((status = 200, body = OrderOut), (status = "4XX", body = ProblemOut, content_type = "application/problem+json")), security(("operator" = [])))]
pub(super) async fn get(
    State(app): State<ApiState>,
    _: Operator,
    Id(id): Id<OrderId>,
) -> Result<Json<OrderOut>, Problem> {
    Ok(Json(app.service.get_order(id).await?.into()))
}

/// Which orders.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct ListSearch {
    /// 1 to 200; anything else reads 50.
    limit: Option<String>,
    /// Only this customer's.
    customer_id: Option<uuid::Uuid>,
    /// Only in this state.
    state: Option<String>,
}

/// Orders from the read model, newest first. `position` says how far it has followed the log.
#[utoipa::path(get, path = "/v1/admin/orders", operation_id = "listOrders", tag = "orders",
    params(ListSearch, ("If-Position-At-Least" = Option<i64>, Header, description = "Answer only once the list knows this position, or 412")),
    responses((status = 200, body = OrderListOut), (status = "4XX", body = ProblemOut, content_type = "application/problem+json")), security(("operator" = [])))]
pub(super) async fn list(
    State(app): State<ApiState>,
    _: Operator,
    AtLeast(at_least): AtLeast,
    Search(search): Search<ListSearch>,
) -> Result<Positioned<OrderListOut>, Problem> {
    let filter = OrderFilter {
        customer_id: search.customer_id,
        state: search.state.map(|state| wire::state(&state)).transpose()?,
        limit: limit(search.limit.as_deref(), DEFAULT_LIMIT, 200),
    };
    let page = app.service.list_orders(&filter, at_least).await?;
    Ok(positioned(Some(page.position), page.into()))
}

/// Why an order is withdrawn.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct CancelOrderIn {
    /// Kept beside the event; no personal data.
    reason: String,
}

/// Withdraws an unpaid order, then asks its providers to take no more money. Repeating it succeeds.
#[utoipa::path(post, path = "/v1/admin/orders/{id}/cancel", operation_id = "cancelOrder", tag = "orders", request_body = CancelOrderIn,
    params(("id" = uuid::Uuid, Path, description = "The order"), ("Idempotency-Key" = String, Header, description = "8 to 128 visible ASCII characters")),
    responses((status = 200, body = OrderOut), (status = "4XX", body = ProblemOut, content_type = "application/problem+json")), security(("operator" = [])))]
pub(super) async fn cancel(
    State(app): State<ApiState>,
    _: Operator,
    request: Request,
    key: Key,
    Id(id): Id<OrderId>,
    Body(body): Body<CancelOrderIn>,
) -> Result<Positioned<OrderOut>, Problem> {
    let reason = reason::required(&body.reason, "a reason of 1 to 500 characters is required")?;
    let key = key.keyed(&request, &reason)?;
    let caller = request.operator().because(reason);
    let done = app.service.cancel_order(&caller, &key, id).await?;
    Ok(positioned(done.position, done.value.into()))
}

/// A limit out of its range reads as the default, as the seeds have it.
pub(super) fn limit(text: Option<&str>, default: i64, most: i64) -> i64 {
    text.and_then(|text| text.parse().ok())
        .filter(|limit| (1..=most).contains(limit))
        .unwrap_or(default)
}
