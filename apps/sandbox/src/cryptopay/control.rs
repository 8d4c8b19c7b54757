//! `/control/cryptopay/…`: what a payer and time do to an invoice, where webhooks go, knobs.
//!
//! `GET invoices?payload=` · `POST invoices/{id}/pay` · `POST invoices/{id}/expire` · `GET|PUT webhook {"url"}` ·
//! `POST webhook/release {"reversed"}` · `POST invoices/{id}/webhook` (once, now, answers `{"status"}`) · `GET|PUT knobs`

use std::sync::Arc;

use axum::{
    Json, Router,
    extract::{Path, Query, State},
    http::StatusCode,
    routing::{get, post},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{
    CryptoPay, CryptopayKnobs, Effect, change, failure::Failure, invoice::shown, lookup::Filter, payer, webhook,
};
use crate::control::Refusal;

#[derive(Deserialize)]
struct OfPayload {
    payload: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct Receiver {
    url: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Release {
    reversed: bool,
}

pub(super) fn router(service: &Arc<CryptoPay>) -> Router {
    Router::new()
        .route("/invoices", get(invoices))
        .route("/invoices/{id}/pay", post(pay))
        .route("/invoices/{id}/expire", post(expire))
        .route("/invoices/{id}/webhook", post(send_webhook))
        .route("/webhook", get(receiver).put(set_receiver))
        .route("/webhook/release", post(release))
        .route("/knobs", get(knobs).put(set_knobs))
        .with_state(service.clone())
}

async fn invoices(State(service): State<Arc<CryptoPay>>, Query(wanted): Query<OfPayload>) -> Json<Value> {
    let now = service.now();
    let filter = Filter::of_payload(wanted.payload);
    let items = service.ledger.read(|state| {
        filter
            .page(state, now)
            .map(|invoice| json!(shown(invoice, &service.context.url, now)))
            .collect::<Vec<_>>()
    });
    Json(json!({ "items": items }))
}

async fn pay(State(service): State<Arc<CryptoPay>>, Path(id): Path<i64>) -> Result<Json<Value>, Refusal> {
    Ok(Json(payer::pay(&service, id)?))
}

async fn expire(State(service): State<Arc<CryptoPay>>, Path(id): Path<i64>) -> Result<StatusCode, Refusal> {
    service.ledger.change(
        service.now(),
        |state| change::expire(state, id).map(Some),
        |_| Ok::<_, Failure>(()),
    )?;
    Ok(StatusCode::NO_CONTENT)
}

async fn send_webhook(State(service): State<Arc<CryptoPay>>, Path(id): Path<i64>) -> Result<Json<Value>, Refusal> {
    let update_id = service
        .ledger
        .read(|state| state.update_of(id))
        .ok_or(Refusal::not_found("the invoice is not paid"))?;
    Ok(Json(json!({ "status": webhook::send_once(&service, update_id).await })))
}

async fn receiver(State(service): State<Arc<CryptoPay>>) -> Json<Receiver> {
    Json(Receiver {
        url: service.ledger.read(|state| state.webhook_url().map(str::to_owned)),
    })
}

async fn set_receiver(
    State(service): State<Arc<CryptoPay>>,
    Json(Receiver { url }): Json<Receiver>,
) -> Result<StatusCode, Refusal> {
    let decide = |state: &super::state::State| {
        Ok::<_, Refusal>((state.webhook_url() != url.as_deref()).then(|| Effect::WebhookSet { url: url.clone() }))
    };
    service.ledger.change(service.now(), decide, |_| Ok(()))?;
    Ok(StatusCode::NO_CONTENT)
}

/// Sends everything that is owed, one after another, once each, in order or against it. What fails stays owed.
async fn release(State(service): State<Arc<CryptoPay>>, Json(how): Json<Release>) -> Json<Value> {
    let mut owed = service.ledger.read(super::state::State::owed);
    if how.reversed {
        owed.reverse();
    }
    let mut statuses = Vec::new();
    for update_id in owed {
        statuses.push(json!({ "updateId": update_id, "status": webhook::send_once(&service, update_id).await }));
    }
    Json(json!({ "sent": statuses }))
}

async fn knobs(State(service): State<Arc<CryptoPay>>) -> Json<CryptopayKnobs> {
    Json(service.knobs.get())
}

async fn set_knobs(State(service): State<Arc<CryptoPay>>, Json(knobs): Json<CryptopayKnobs>) -> StatusCode {
    service.knobs.set(knobs);
    StatusCode::NO_CONTENT
}
