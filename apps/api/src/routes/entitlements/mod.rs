//! Entitlements, as operators read and change them.

mod wire;

use axum::{Json, extract::State, http::StatusCode};
use domain::ids::EntitlementId;

use wire::{AcceptedOut, ChangeIn, EntitlementOut, ReasonIn};

use super::reason;
use crate::{
    ApiState,
    extract::{Body, Id, Key, Operator, Request},
    problem::{Problem, ProblemOut},
};

/// One entitlement, as it is now.
#[utoipa::path(get, path = "/v1/admin/entitlements/{id}", operation_id = "getEntitlement", tag = "entitlements",
    params(("id" = uuid::Uuid, Path, description = "The entitlement")),
    responses((status = 200, body = EntitlementOut), (status = "4XX", body = ProblemOut, content_type = "application/problem+json")), security(("operator" = [])))]
pub(in crate::routes) async fn get(
    State(app): State<ApiState>,
    _: Operator,
    Id(id): Id<EntitlementId>,
) -> Result<Json<EntitlementOut>, Problem> {
    Ok(Json(app.service.get_entitlement(id).await?.into()))
}

/// Opens an operation: the change is recorded now, and a job brings it to the panel. The same key again is the same operation.
#[utoipa::path(post, path = "/v1/admin/entitlements/{id}/operations", operation_id = "changeEntitlement", tag = "entitlements", request_body = ChangeIn,
    params(("id" = uuid::Uuid, Path, description = "The entitlement"), ("Idempotency-Key" = String, Header, description = "8 to 128 visible ASCII characters")),
    responses((status = 202, body = AcceptedOut), (status = "4XX", body = ProblemOut, content_type = "application/problem+json")), security(("operator" = [])))]
pub(in crate::routes) async fn change(
    State(app): State<ApiState>,
    _: Operator,
    request: Request,
    key: Key,
    Id(id): Id<EntitlementId>,
    Body(body): Body<ChangeIn>,
) -> Result<(StatusCode, Json<AcceptedOut>), Problem> {
    let (change, correlation_id) = body.parse(id)?;
    let key = key.keyed(&request, &change)?;
    let mut caller = request.operator();
    caller.correlation_id = correlation_id.unwrap_or(caller.correlation_id);
    let done = app.service.change_entitlement(&caller, &key, &change).await?;
    Ok((StatusCode::ACCEPTED, Json(done.value.into())))
}

/// Shuts access and stops the clock of the right.
#[utoipa::path(post, path = "/v1/admin/entitlements/{id}/pause", operation_id = "pauseEntitlement", tag = "entitlements", request_body = ReasonIn,
    params(("id" = uuid::Uuid, Path, description = "The entitlement"), ("Idempotency-Key" = String, Header, description = "8 to 128 visible ASCII characters")),
    responses((status = 202, body = AcceptedOut), (status = "4XX", body = ProblemOut, content_type = "application/problem+json")), security(("operator" = [])))]
pub(in crate::routes) async fn pause(
    State(app): State<ApiState>,
    _: Operator,
    request: Request,
    key: Key,
    Id(id): Id<EntitlementId>,
    Body(body): Body<ReasonIn>,
) -> Result<(StatusCode, Json<AcceptedOut>), Problem> {
    let reason = reason::required(&body.reason, "a reason of 1 to 500 characters is required")?;
    let key = key.keyed(&request, &reason)?;
    let done = app
        .service
        .pause_entitlement(&request.operator(), &key, id, reason)
        .await?;
    Ok((StatusCode::ACCEPTED, Json(done.value.into())))
}

/// Ends a pause: the time it took is added to the paid end, and access opens.
#[utoipa::path(post, path = "/v1/admin/entitlements/{id}/resume", operation_id = "resumeEntitlement", tag = "entitlements", request_body = ReasonIn,
    params(("id" = uuid::Uuid, Path, description = "The entitlement"), ("Idempotency-Key" = String, Header, description = "8 to 128 visible ASCII characters")),
    responses((status = 202, body = AcceptedOut), (status = "4XX", body = ProblemOut, content_type = "application/problem+json")), security(("operator" = [])))]
pub(in crate::routes) async fn resume(
    State(app): State<ApiState>,
    _: Operator,
    request: Request,
    key: Key,
    Id(id): Id<EntitlementId>,
    Body(body): Body<ReasonIn>,
) -> Result<(StatusCode, Json<AcceptedOut>), Problem> {
    let reason = reason::required(&body.reason, "a reason of 1 to 500 characters is required")?;
    let key = key.keyed(&request, &reason)?;
    let done = app
        .service
        .resume_entitlement(&request.operator(), &key, id, reason)
        .await?;
    Ok((StatusCode::ACCEPTED, Json(done.value.into())))
}
