//! The control API: faults, reports, and what each simulator lets a test do to it. Every route needs the control token.
//!
//! `GET /control/report` · `GET /control/requests` · `GET|PUT|POST|DELETE /control/faults` · `/control/{panel,cryptopay,goods,telegram}/…`

mod answer;
mod client;

use std::sync::Arc;

use axum::{
    Json, Router,
    extract::{Request, State},
    http::{StatusCode, header},
    middleware::{self, Next},
    response::{IntoResponse as _, Response},
    routing::get,
};

pub use answer::Refusal;
pub use client::{Client, SandboxReport};

use crate::{
    Report,
    faults::{FaultCounts, FaultRule, Faults, SimulatorName},
    requests::{RequestLog, SeenRequest},
};

type Reports = Arc<Vec<(SimulatorName, Report)>>;

pub(crate) fn router(
    simulators: Vec<(SimulatorName, Router, Report)>,
    faults: Arc<Faults>,
    requests: Arc<RequestLog>,
    token: &str,
) -> Router {
    let mut router = Router::new();
    let mut reports = Vec::new();
    for (name, control, report) in simulators {
        router = router.nest(&format!("/control/{name}"), control);
        reports.push((name, report));
    }
    let expected: Arc<str> = format!("Bearer {token}").into();
    router
        .route("/control/report", get(report).with_state(Arc::new(reports)))
        .route(
            "/control/faults",
            get(list_faults)
                .put(replace_faults)
                .post(add_faults)
                .delete(clear_faults)
                .with_state(faults),
        )
        .route("/control/requests", get(list_requests).with_state(requests))
        .layer(middleware::from_fn_with_state(expected, check_token))
}

async fn check_token(State(expected): State<Arc<str>>, request: Request, next: Next) -> Response {
    let sent = request
        .headers()
        .get(header::AUTHORIZATION)
        .map(axum::http::HeaderValue::as_bytes);
    if sent == Some(expected.as_bytes()) {
        next.run(request).await
    } else {
        StatusCode::UNAUTHORIZED.into_response()
    }
}

/// `{"panel":{…},"cryptopay":{…},"goods":{…},"telegram":{…}}`, each by its simulator, from its journal.
async fn report(State(reports): State<Reports>) -> Result<Json<serde_json::Value>, Refusal> {
    let mut all = serde_json::Map::new();
    for (name, report) in reports.iter() {
        all.insert(name.as_str().to_owned(), report()?);
    }
    Ok(Json(all.into()))
}

async fn list_requests(State(requests): State<Arc<RequestLog>>) -> Json<Vec<SeenRequest>> {
    Json(requests.all())
}

async fn list_faults(State(faults): State<Arc<Faults>>) -> Json<Vec<FaultCounts>> {
    Json(faults.counts())
}

async fn replace_faults(
    State(faults): State<Arc<Faults>>,
    Json(rules): Json<Vec<FaultRule>>,
) -> Result<StatusCode, Refusal> {
    faults.replace(rules)?;
    Ok(StatusCode::NO_CONTENT)
}

async fn add_faults(
    State(faults): State<Arc<Faults>>,
    Json(rules): Json<Vec<FaultRule>>,
) -> Result<StatusCode, Refusal> {
    faults.add(rules)?;
    Ok(StatusCode::NO_CONTENT)
}

async fn clear_faults(State(faults): State<Arc<Faults>>) -> StatusCode {
    faults.clear();
    StatusCode::NO_CONTENT
}
