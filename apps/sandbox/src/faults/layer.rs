//! Carries a fault out around a simulator's router.

use std::sync::Arc;

use axum::{
    body::{Body, to_bytes},
    extract::{Request, State},
    http::{HeaderValue, StatusCode, header},
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use ports::clock::Clock;

use super::{Fault, FaultAnswer, Faults, SimulatorName};
use crate::{
    Background,
    requests::{RequestLog, SeenRequest},
    wire,
};

/// No request of ours is larger.
const MAX_REQUEST_BYTES: usize = 8 * 1024 * 1024;

/// What the layer around one simulator needs.
#[derive(Clone, Debug)]
pub(crate) struct FaultLayer {
    pub(crate) simulator: SimulatorName,
    pub(crate) faults: Arc<Faults>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) background: Background,
    pub(crate) requests: Arc<RequestLog>,
}

/// Runs every request in the background, so that a client that goes away does not undo what it sent, as no real server would.
pub(crate) async fn inject(State(layer): State<FaultLayer>, request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    let Ok(body) = to_bytes(body, MAX_REQUEST_BYTES).await else {
        return wire::reset();
    };
    let (at, method, path) = (layer.clock.now(), parts.method.to_string(), parts.uri.path().to_owned());
    let fault = layer.faults.decide(layer.simulator, &method, &path, at);
    let request = Request::from_parts(parts, Body::from(body));
    let background = layer.background.clone();
    let run = layer.background.spawn(async move {
        let faulty = fault.is_some();
        let response = match fault {
            None => next.run(request).await,
            Some(fault) => perform(&fault, &background, request, next).await,
        };
        let status = if wire::is_reset(&response) {
            None
        } else {
            Some(response.status().as_u16())
        };
        layer.requests.add(SeenRequest {
            simulator: layer.simulator,
            at,
            method,
            path,
            status,
            faulty,
        });
        response
    });
    run.await.unwrap_or_else(|_| wire::reset())
}

async fn perform(fault: &Fault, background: &Background, request: Request, next: Next) -> Response {
    if !background.sleep(fault.before()).await {
        return wire::reset();
    }
    let real = if fault.handle {
        next.run(request).await
    } else {
        wire::reset()
    };
    if !background.sleep(fault.after()).await {
        return wire::reset();
    }
    match &fault.answer {
        FaultAnswer::Real => real,
        FaultAnswer::Reset => wire::reset(),
        FaultAnswer::Status {
            status,
            body,
            retry_after_seconds,
        } => answer(*status, body.as_ref(), *retry_after_seconds),
        FaultAnswer::Garbage => json(b"{\"response\": {\"id\": 1, \xff<<<".to_vec()),
        FaultAnswer::Oversized { bytes } => json(padded(*bytes)),
        FaultAnswer::Html { status } => {
            let page = "<html><head><title>Bad gateway</title></head><body>nginx</body></html>";
            (status_of(*status), [(header::CONTENT_TYPE, "text/html")], page).into_response()
        }
    }
}

fn answer(status: u16, body: Option<&serde_json::Value>, retry_after_seconds: Option<u32>) -> Response {
    let mut response = match body {
        Some(body) => (status_of(status), axum::Json(body)).into_response(),
        None => status_of(status).into_response(),
    };
    if let Some(seconds) = retry_after_seconds {
        response
            .headers_mut()
            .insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}

fn json(body: Vec<u8>) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], body).into_response()
}

/// Valid JSON of so many bytes, so that only a bound on the size can refuse it.
fn padded(bytes: usize) -> Vec<u8> {
    let mut body = b"{\"response\":{\"padding\":\"".to_vec();
    let tail = b"\"}}";
    body.resize(bytes.saturating_sub(tail.len()).max(body.len()), b'x');
    body.extend_from_slice(tail);
    body
}

fn status_of(status: u16) -> StatusCode {
    StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}
