//! The gateway's routes. A delivery is in the journal before its answer leaves.

use std::sync::Arc;

use axum::{
    Json, Router,
    extract::{Request, State},
    http::{StatusCode, header},
    middleware::{self, Next},
    response::{IntoResponse as _, Response},
    routing::{get, post},
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::Deserialize;
use serde_json::json;

use super::{
    Gateway,
    state::{Effect, Kind, Sending},
};
use crate::SandboxError;

/// Smallest number of Stars that is sold.
const LEAST_STARS: i64 = 50;

#[derive(Deserialize)]
struct SendIn {
    user_id: Option<i64>,
    username: String,
    quantity: i64,
}

pub(super) fn credential(token: &str) -> String {
    format!("Basic {}", STANDARD.encode(format!("omniflow:{token}")))
}

pub(super) fn router(gateway: &Arc<Gateway>) -> Router {
    Router::new()
        .route("/admin/stars/value", get(star_value))
        .route("/admin/stars/send", post(send_stars))
        .route("/admin/premium/send", post(send_premium))
        .with_state(gateway.clone())
        .layer(middleware::from_fn_with_state(gateway.clone(), check_credential))
}

async fn check_credential(State(gateway): State<Arc<Gateway>>, request: Request, next: Next) -> Response {
    let sent = request
        .headers()
        .get(header::AUTHORIZATION)
        .map(axum::http::HeaderValue::as_bytes);
    if sent == Some(gateway.credential.as_bytes()) {
        next.run(request).await
    } else {
        (StatusCode::UNAUTHORIZED, Json(json!({ "ok": false }))).into_response()
    }
}

async fn star_value(State(gateway): State<Arc<Gateway>>) -> Response {
    let body = format!(r#"{{"ok":true,"value":{}}}"#, gateway.knobs.get().star_value);
    ([(header::CONTENT_TYPE, "application/json")], body).into_response()
}

async fn send_stars(State(gateway): State<Arc<Gateway>>, Json(input): Json<SendIn>) -> Response {
    send(&gateway, Kind::Stars, input)
}

async fn send_premium(State(gateway): State<Arc<Gateway>>, Json(input): Json<SendIn>) -> Response {
    send(&gateway, Kind::Premium, input)
}

fn send(gateway: &Gateway, kind: Kind, input: SendIn) -> Response {
    let sellable = match kind {
        Kind::Stars => input.quantity >= LEAST_STARS,
        Kind::Premium => matches!(input.quantity, 3 | 6 | 12),
    };
    let accepted = sellable && !input.username.is_empty() && !gateway.knobs.get().rejects(&input.username);
    let recorded = gateway.ledger.change(
        gateway.context.clock.now(),
        |state| {
            let sending = Sending {
                id: state.next_id(),
                kind,
                username: input.username,
                quantity: input.quantity,
                user_id: input.user_id,
            };
            Ok::<_, SandboxError>(Some(if accepted {
                Effect::Delivered { sending }
            } else {
                Effect::Rejected { sending }
            }))
        },
        |_| Ok(()),
    );
    match recorded {
        Ok(()) => Json(json!({ "ok": accepted })).into_response(),
        Err(error) => {
            tracing::error!(%error, "a sending was not recorded, so it did not happen");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}
