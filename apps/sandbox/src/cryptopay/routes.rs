//! The API's methods. Every method takes GET and POST.

use std::sync::Arc;

use axum::{
    Json, Router,
    body::Body,
    extract::State,
    http::Request,
    middleware::{self, Next},
    response::{IntoResponse as _, Response},
    routing::{MethodRouter, get, post},
};
use serde_json::{Value, json};

use super::{CryptoPay, change, failure::Failure, invoice::shown, lookup::Filter, parameters::Parameters, payer};

type Answer = Result<Json<Value>, Failure>;

pub(super) fn router(service: &Arc<CryptoPay>) -> Router {
    let methods = Router::new()
        .route("/getMe", get(get_me).post(get_me))
        .route("/createInvoice", both(create_invoice, create_invoice))
        .route("/getInvoices", both(get_invoices, get_invoices))
        .route("/deleteInvoice", both(delete_invoice, delete_invoice))
        .fallback(|| async { Failure::METHOD_NOT_FOUND })
        .with_state(service.clone())
        .layer(middleware::from_fn_with_state(service.clone(), check_token));
    Router::new().nest("/api", methods.clone()).merge(methods)
}

fn both<H, G, T, U, S>(on_get: H, on_post: G) -> MethodRouter<S>
where
    H: axum::handler::Handler<T, S>,
    G: axum::handler::Handler<U, S>,
    T: 'static,
    U: 'static,
    S: Clone + Send + Sync + 'static,
{
    get(on_get).merge(post(on_post))
}

async fn check_token(State(service): State<Arc<CryptoPay>>, request: Request<Body>, next: Next) -> Response {
    let sent = request
        .headers()
        .get("crypto-pay-api-token")
        .map(axum::http::HeaderValue::as_bytes);
    if sent == Some(service.context.token.as_bytes()) {
        next.run(request).await
    } else {
        Failure::UNAUTHORIZED.into_response()
    }
}

async fn get_me() -> Json<Value> {
    ok(&json!({ "app_id": 1, "name": "Omniflow sandbox", "payment_processing_bot_username": "CryptoTestnetBot" }))
}

async fn create_invoice(State(service): State<Arc<CryptoPay>>, request: Request<Body>) -> Answer {
    let input = Parameters::read(request).await?;
    let now = service.now();
    let (id, answer) = service.ledger.change(
        now,
        |state| change::create(state, &input, now).map(Some),
        |state| {
            let made = state.youngest_first().next().ok_or(Failure::INVOICE_NOT_FOUND)?;
            Ok::<_, Failure>((made.id, ok(&shown(made, &service.context.url, now))))
        },
    )?;
    payer::expect(&service, id);
    Ok(answer)
}

async fn get_invoices(State(service): State<Arc<CryptoPay>>, request: Request<Body>) -> Answer {
    let filter = Filter::read(&Parameters::read(request).await?)?;
    let now = service.now();
    let items = service.ledger.read(|state| {
        filter
            .page(state, now)
            .map(|invoice| json!(shown(invoice, &service.context.url, now)))
            .collect::<Vec<_>>()
    });
    Ok(ok(&json!({ "items": items })))
}

async fn delete_invoice(State(service): State<Arc<CryptoPay>>, request: Request<Body>) -> Answer {
    let input = Parameters::read(request).await?;
    let id = input
        .number("invoice_id", "INVOICE_ID_INVALID")?
        .ok_or(Failure::invalid("INVOICE_ID_REQUIRED"))?;
    service.ledger.change(
        service.now(),
        |state| change::delete(state, id).map(Some),
        |_| Ok(ok(&true)),
    )
}

fn ok(result: &impl serde::Serialize) -> Json<Value> {
    Json(json!({ "ok": true, "result": result }))
}
