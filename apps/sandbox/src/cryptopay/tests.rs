use std::{collections::BTreeMap, sync::Arc};

use axum::{
    body::{Body, to_bytes},
    http::Request,
};
use chrono::TimeDelta;
use ports::clock::{Clock as _, ManualClock};
use proptest::prelude::*;
use serde_json::{Value, json};
use tempfile::TempDir;
use tower::ServiceExt as _;

use super::*;
use crate::Background;

const TOKEN: &str = "1:TOKEN";

fn context(dir: &TempDir, clock: &ManualClock) -> Context {
    Context {
        dir: dir.path().to_owned(),
        url: "http://simulator".to_owned(),
        token: TOKEN.to_owned(),
        clock: Arc::new(clock.clone()),
        background: Background::default(),
        http: crate::simulator::http_client().expect("a client"),
    }
}

fn noon() -> ManualClock {
    ManualClock::at("2026-11-29T12:00:00Z".parse().expect("a time"))
}

/// Status and body of an answer.
async fn call(parts: &Parts, request: Request<Body>) -> (u16, Value) {
    let answer = parts.service.clone().oneshot(request).await.expect("infallible");
    let status = answer.status().as_u16();
    let body = to_bytes(answer.into_body(), usize::MAX).await.expect("a body");
    (status, serde_json::from_slice(&body).unwrap_or(Value::Null))
}

fn get(path: &str) -> Request<Body> {
    Request::get(path)
        .header("crypto-pay-api-token", TOKEN)
        .body(Body::empty())
        .expect("a request")
}

fn post(path: &str, content_type: &str, body: &str) -> Request<Body> {
    let request = Request::post(path)
        .header("crypto-pay-api-token", TOKEN)
        .header("content-type", content_type);
    request.body(Body::from(body.to_owned())).expect("a request")
}

fn refusal(status: u16, name: &str) -> (u16, Value) {
    (
        status,
        json!({ "ok": false, "error": { "code": status, "name": name } }),
    )
}

#[tokio::test]
async fn parameters_may_come_as_query_form_or_json() {
    let dir = tempfile::tempdir().expect("a directory");
    let parts = open(context(&dir, &noon())).expect("opens");
    let form = "currency_type=fiat&fiat=RUB&amount=299.50&payload=a%20b%26c";
    let json_body =
        json!({ "currency_type": "fiat", "fiat": "RUB", "amount": "299.5", "payload": "a b&c", "expires_in": 60 });
    for (number, request) in [
        get(&format!("/api/createInvoice?{form}")),
        get(&format!("/createInvoice?{form}")),
        post("/api/createInvoice", "application/x-www-form-urlencoded", form),
        post("/api/createInvoice", "application/json", &json_body.to_string()),
    ]
    .into_iter()
    .enumerate()
    {
        let (status, body) = call(&parts, request).await;
        let made = &body["result"];
        assert_eq!(
            (status, &made["amount"], &made["payload"]),
            (200, &json!("299.5"), &json!("a b&c"))
        );
        assert_eq!(
            (&made["invoice_id"], &made["status"]),
            (&json!(number + 1), &json!("active"))
        );
    }
}

#[tokio::test]
async fn what_the_api_refuses_it_names() {
    let dir = tempfile::tempdir().expect("a directory");
    let parts = open(context(&dir, &noon())).expect("opens");
    let base = "/api/createInvoice?currency_type=fiat&fiat=RUB";
    for (path, status, name) in [
        (format!("{base}&amount=0"), 400, "AMOUNT_INVALID"),
        (format!("{base}&amount=1e3"), 400, "AMOUNT_INVALID"),
        (base.to_owned(), 400, "AMOUNT_INVALID"),
        (format!("{base}&amount=1&expires_in=0"), 400, "EXPIRES_IN_INVALID"),
        (format!("{base}&amount=1&expires_in=2678401"), 400, "EXPIRES_IN_INVALID"),
        (
            "/api/createInvoice?currency_type=fiat&fiat=XTR&amount=1".to_owned(),
            400,
            "FIAT_INVALID",
        ),
        ("/api/createInvoice?amount=1".to_owned(), 400, "ASSET_INVALID"),
        ("/api/getInvoices?count=0".to_owned(), 400, "COUNT_INVALID"),
        ("/api/getInvoices?count=1001".to_owned(), 400, "COUNT_INVALID"),
        ("/api/getInvoices?offset=-1".to_owned(), 400, "OFFSET_INVALID"),
        ("/api/getInvoices?status=expired".to_owned(), 400, "STATUS_INVALID"),
        (
            "/api/getInvoices?invoice_ids=1,x".to_owned(),
            400,
            "INVOICE_IDS_INVALID",
        ),
        ("/api/deleteInvoice".to_owned(), 400, "INVOICE_ID_REQUIRED"),
        ("/api/deleteInvoice?invoice_id=9".to_owned(), 400, "INVOICE_NOT_FOUND"),
        ("/api/transfer".to_owned(), 405, "METHOD_NOT_FOUND"),
    ] {
        assert_eq!(call(&parts, get(&path)).await, refusal(status, name), "{path}");
    }
    let stranger = Request::get("/api/getMe").body(Body::empty()).expect("a request");
    assert_eq!(call(&parts, stranger).await, refusal(401, "UNAUTHORIZED"));
    let wrong = Request::get("/api/getMe")
        .header("crypto-pay-api-token", "2:x")
        .body(Body::empty())
        .expect("a request");
    assert_eq!(call(&parts, wrong).await, refusal(401, "UNAUTHORIZED"));
    assert_eq!(
        call(&parts, post("/api/createInvoice", "application/json", "{")).await,
        refusal(400, "PARAMETERS_INVALID")
    );
}

#[derive(Clone, Debug)]
enum Step {
    Create { payload: u8, expires: bool },
    Delete(u8),
    Pay(u8),
    Expire(u8),
    Wait,
    Reopen,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0_u8..4, any::<bool>()).prop_map(|(payload, expires)| Step::Create { payload, expires }),
        2 => (0_u8..8).prop_map(Step::Delete),
        4 => (0_u8..8).prop_map(Step::Pay),
        1 => (0_u8..8).prop_map(Step::Expire),
        1 => Just(Step::Wait),
        1 => Just(Step::Reopen),
    ]
}

/// What an invoice may be according to the contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Model {
    status: Status,
    ends_at_minute: Option<i64>,
}

impl Model {
    fn at(self, minute: i64) -> Status {
        let ended = self.ends_at_minute.is_some_and(|end| end <= minute);
        if self.status == Status::Active && ended {
            Status::Expired
        } else {
            self.status
        }
    }
}

fn shown_statuses(ledger: &Ledger<state::State>, now: domain::time::Timestamp) -> BTreeMap<i64, Status> {
    ledger.read(|state| {
        state
            .youngest_first()
            .map(|invoice| (invoice.id, invoice.status_at(now)))
            .collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever happens to invoices, in whatever order, over restarts: the contract's statuses, ids that only grow, one owed notice per
    /// payment, and a journal that tells it all.
    #[test]
    fn invoices_keep_the_contract(steps in proptest::collection::vec(step(), 0..60)) {
        let dir = tempfile::tempdir().expect("a directory");
        let path = journal::path(dir.path(), "cryptopay");
        let clock = noon();
        let start = clock.now();
        let mut ledger = Ledger::open(&path, state::State::default()).expect("opens");
        let mut model: BTreeMap<i64, Model> = BTreeMap::new();
        let (mut made, mut paid, mut deleted, mut minute) = (0_i64, 0_u64, 0_u64, 0_i64);
        for step in steps {
            let now = clock.now();
            let run = |ledger: &Ledger<state::State>, decide: &dyn Fn(&state::State) -> Result<Effect, failure::Failure>| {
                ledger.change(now, |state| decide(state).map(Some), |_| Ok::<(), failure::Failure>(())).is_ok()
            };
            match step {
                Step::Create { payload, expires } => {
                    let expires_in = if expires { "&expires_in=60" } else { "" };
                    let query = format!("currency_type=fiat&fiat=RUB&amount=1&payload=order-{payload}{expires_in}");
                    let input = parameters::Parameters::of_query(&query);
                    prop_assert!(run(&ledger, &|state| change::create(state, &input, now)));
                    made += 1;
                    model.insert(made, Model { status: Status::Active, ends_at_minute: expires.then_some(minute + 1) });
                }
                Step::Delete(id) => {
                    let known = model.get(&i64::from(id)).is_some_and(|one| one.status != Status::Paid);
                    prop_assert_eq!(run(&ledger, &|state| change::delete(state, id.into())), known);
                    if known {
                        model.remove(&i64::from(id));
                        deleted += 1;
                    }
                }
                Step::Pay(id) => {
                    let open = model.get_mut(&i64::from(id)).filter(|one| one.at(minute) == Status::Active);
                    prop_assert_eq!(run(&ledger, &|state| change::pay(state, id.into(), now)), open.is_some());
                    if let Some(one) = open {
                        one.status = Status::Paid;
                        paid += 1;
                    }
                }
                Step::Expire(id) => {
                    let one = model.get_mut(&i64::from(id)).filter(|one| one.status != Status::Paid);
                    prop_assert_eq!(run(&ledger, &|state| change::expire(state, id.into())), one.is_some());
                    if let Some(one) = one {
                        one.status = Status::Expired;
                    }
                }
                Step::Wait => {
                    clock.advance(TimeDelta::minutes(1));
                    minute += 1;
                }
                Step::Reopen => {
                    drop(ledger);
                    ledger = Ledger::open(&path, state::State::default()).expect("opens again");
                }
            }
            let now = clock.now();
            prop_assert_eq!((now - start).num_minutes(), minute);
            let expected: BTreeMap<i64, Status> = model.iter().map(|(id, one)| (*id, one.at(minute))).collect();
            prop_assert_eq!(shown_statuses(&ledger, now), expected);
            prop_assert_eq!(ledger.read(|state| (state.next_invoice(), state.owed().len() as u64)), (made + 1, paid));
        }
        let report = report::of_journal(&path).expect("a journal");
        prop_assert_eq!((report.invoices, report.paid, report.deleted), (made.unsigned_abs(), paid, deleted));
        prop_assert_eq!(report.duplicate_invoices, report.invoices - report.invoices_by_payload.len() as u64);
    }
}
