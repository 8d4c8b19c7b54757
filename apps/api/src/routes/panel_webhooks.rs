//! The door for the panel. It asks for no token: the signature over the raw bytes is the proof.

use axum::{Json, body::Bytes, extract::State, http::HeaderMap};
use serde::Serialize;
use service::panel_hints::HintCall;
use utoipa::ToSchema;

use crate::{
    ApiState,
    extract::Request,
    problem::{Problem, ProblemOut},
};

/// What became of a webhook.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct HintOut {
    /// `opened` (the panel is looked at), `coalesced` (it is anyway), `ignored`, `duplicate`, `stale`, `malformed` or `deferred`.
    status: &'static str,
}

/// Takes a webhook of the panel in. 2xx says that it is stored. It is a hint: at most it has the panel looked at, and never changes anything itself.
#[utoipa::path(post, path = "/v1/panel/webhooks/remnawave", operation_id = "receivePanelWebhook", tag = "webhooks",
    request_body(content = String, content_type = "application/json"),
    responses((status = 200, body = HintOut), (status = 400, body = ProblemOut, content_type = "application/problem+json"), (status = 404, body = ProblemOut, content_type = "application/problem+json"), (status = 413, body = ProblemOut, content_type = "application/problem+json")))]
pub(super) async fn receive(
    State(app): State<ApiState>,
    request: Request,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Json<HintOut>, Problem> {
    let headers: Vec<(&str, &[u8])> = headers
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_bytes()))
        .collect();
    let call = HintCall {
        headers: &headers,
        body: &body,
    };
    let outcome = app
        .service
        .receive_panel_hint(&request.provider("remnawave"), call)
        .await?;
    Ok(Json(HintOut {
        status: outcome.as_str(),
    }))
}
