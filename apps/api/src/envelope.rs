//! What every request passes through: its id, its span, its time limit, its metrics, and the form of its failures.

use std::{
    any::Any,
    time::{Duration, Instant},
};

use axum::{
    extract::{MatchedPath, Request, State},
    http::{HeaderMap, HeaderValue, StatusCode},
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use ports::trace::{self, TraceParent};
use tracing::{Instrument as _, field::Empty};

use crate::{ApiState, problem::Problem};

/// Name of the header that carries the request's id, both ways.
const REQUEST_ID: &str = "x-request-id";
/// Longer than the two provider calls of a payment; everything else is done long before.
const TIME_LIMIT: Duration = Duration::from_secs(40);

/// The request's id: the caller's, when it is harmless, or ours.
#[derive(Clone, Debug)]
pub(crate) struct RequestId(pub(crate) String);

/// Wraps the handling of one request.
pub(crate) async fn envelope(State(state): State<ApiState>, mut request: Request, next: Next) -> Response {
    let started = Instant::now();
    let id = request_id(&state, &request);
    let method = request.method().as_str().to_owned();
    let route = request
        .extensions()
        .get::<MatchedPath>()
        .map_or_else(|| "unmatched".to_owned(), |path| path.as_str().to_owned());
    request.extensions_mut().insert(RequestId(id.clone()));
    let span = tracing::info_span!(
        "api.request",
        otel.kind = "server",
        otel.name = format!("{method} {route}"),
        otel.status_code = Empty,
        http.response.status_code = Empty,
        // The id of a request is the correlation id of everything that it sets off.
        correlation_id = %id,
        method,
        route,
        trace_id = Empty,
    );
    let inside = telemetry::adopt(
        &span,
        trace_parent(request.headers()),
        header(request.headers(), "tracestate"),
    );
    let handled = tokio::time::timeout(TIME_LIMIT, trace::within(inside, next.run(request)))
        .instrument(span.clone())
        .await;
    let mut response = handled.unwrap_or_else(|_| StatusCode::GATEWAY_TIMEOUT.into_response());

    if let Some(problem) = problem_of(&mut response) {
        let headers = std::mem::take(response.headers_mut());
        response = problem.into_document(&id);
        keep(&headers, "allow", &mut response);
    }
    if let Ok(value) = HeaderValue::from_str(&id) {
        response.headers_mut().insert(REQUEST_ID, value);
    }
    span.record("http.response.status_code", response.status().as_u16());
    if response.status().is_server_error() {
        span.record("otel.status_code", "ERROR");
    }
    count(route, method, response.status(), started.elapsed());
    response
}

/// A panic is a fault like any other: the connection and the process live on.
#[expect(clippy::needless_pass_by_value, reason = "the layer hands the panic over by value")]
pub(crate) fn panicked(cause: Box<dyn Any + Send + 'static>) -> Response {
    let text = cause
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| cause.downcast_ref::<String>().map(String::as_str));
    tracing::error!(panic = text.unwrap_or("unknown"), "a handler panicked");
    StatusCode::INTERNAL_SERVER_ERROR.into_response()
}

/// The caller's place in a trace. One that is malformed, or given twice, begins a trace of our own, as the recommendation says.
fn trace_parent(headers: &HeaderMap) -> Option<TraceParent> {
    header(headers, "traceparent")?.parse().ok()
}

/// A header that is there once, as text.
fn header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let only = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(only)
}

fn request_id(state: &ApiState, request: &Request) -> String {
    let theirs = request.headers().get(REQUEST_ID).and_then(|value| value.to_str().ok());
    let harmless = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    theirs
        .filter(|id| (8..=64).contains(&id.len()) && id.bytes().all(harmless))
        .map_or_else(|| state.service.ids().next().to_string(), ToOwned::to_owned)
}

/// The problem that an answer is, or stands for: those of the framework have no document of their own.
fn problem_of(response: &mut Response) -> Option<Problem> {
    let status = response.status();
    if let Some(problem) = response.extensions_mut().remove::<Problem>() {
        return Some(problem);
    }
    let failed = status.is_client_error() || status.is_server_error();
    let ours = response.extensions().get::<Complete>().is_some();
    (failed && !ours).then(|| Problem::of_status(status))
}

/// Marks an answer that is complete although its status says that something is wrong (readiness).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Complete;

fn keep(from: &HeaderMap, name: &'static str, to: &mut Response) {
    if let Some(value) = from.get(name) {
        to.headers_mut().insert(name, value.clone());
    }
}

fn count(route: String, method: String, status: StatusCode, took: Duration) {
    let class = match status.as_u16() {
        100..=199 => "1xx",
        200..=299 => "2xx",
        300..=399 => "3xx",
        400..=499 => "4xx",
        500..=599 => "5xx",
        _ => "unknown",
    };
    metrics::histogram!("omniflow_http_request_duration_seconds", "route" => route.clone(), "method" => method.clone())
        .record(took);
    metrics::counter!("omniflow_http_requests_total", "route" => route, "method" => method, "status" => class)
        .increment(1);
}
