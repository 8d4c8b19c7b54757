//! The door for payment providers. It asks for no token: the signature over the raw bytes is the proof.

use axum::{
    Json,
    body::Bytes,
    extract::{Path, State},
    http::HeaderMap,
};
use ports::payments::Header;
use serde::Serialize;
use service::webhooks::WebhookCall;
use utoipa::ToSchema;

use crate::{
    ApiState,
    extract::Request,
    problem::{Problem, ProblemOut},
};

/// What became of a call.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct WebhookOut {
    /// How the payment relates to its order, `duplicate`, `ignored`, `payment_not_found`, `malformed` or `deferred`.
    status: &'static str,
}

/// Takes a call in. 2xx says that it is stored; whatever it was about is done now or later, and repeating it changes nothing.
#[utoipa::path(post, path = "/v1/payments/webhooks/{provider}", operation_id = "receiveWebhook", tag = "webhooks",
    params(("provider" = String, Path, description = "Slug of the provider")),
    request_body(content = String, content_type = "application/json"),
    responses((status = 200, body = WebhookOut), (status = 400, body = ProblemOut, content_type = "application/problem+json"), (status = 413, body = ProblemOut, content_type = "application/problem+json")))]
pub(super) async fn receive(
    State(app): State<ApiState>,
    request: Request,
    Path(provider): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Json<WebhookOut>, Problem> {
    let headers: Vec<Header<'_>> = headers
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_bytes()))
        .collect();
    let call = WebhookCall {
        provider: &provider,
        headers: &headers,
        body: &body,
    };
    let received = app.service.receive_webhook(&request.provider(&provider), call).await?;
    let status = received.processed.map_or("deferred", |processed| processed.outcome());
    Ok(Json(WebhookOut { status }))
}
