//! What the panel's journal says of a subscription, and what the log says that it should be.

use std::path::Path;

use domain::time::Timestamp;
use reqwest::Method;
use sandbox::{Addresses, journal, panel::Effect};
use serde_json::Value;
use sqlx::PgPool;
use uuid::Uuid;

/// When access was to end, after each change that the panel carried out for a subscription, oldest first.
pub(crate) fn expiries(data_dir: &Path, subscription: Uuid) -> Vec<Timestamp> {
    let mark = format!("omniflow:{subscription}");
    let mut expiries = Vec::new();
    let path = journal::path(&journal::dir(data_dir), "panel");
    let read = journal::read_entries::<Effect>(&path, |entry| {
        let user = entry.effect.user();
        expiries.extend(
            user.filter(|user| user.description.as_ref() == Some(&mark))
                .map(|user| user.expire_at),
        );
    });
    read.expect("the journal can be read");
    expiries
}

/// When access is to end by the newest change in the log, grace included.
pub(crate) async fn newest_expiry(pool: &PgPool, subscription: Uuid) -> Timestamp {
    sqlx::query_scalar(
        "select (payload ->> 'endsAt')::timestamptz + make_interval(secs => (payload -> 'terms' ->> 'graceSeconds')::float8)
           from events
          where aggregate_type = 'entitlement' and event_type in ('entitlement.granted', 'entitlement.extended')
            and aggregate_id = (select aggregate_id from events
                                 where event_type = 'entitlement.granted' and payload ->> 'subscriptionId' = $1)
          order by sequence desc limit 1",
    )
    .bind(subscription.to_string())
    .fetch_one(pool)
    .await
    .expect("the subscription was granted")
}

/// What somebody does at the panel, past us.
pub(crate) async fn by_hand(data_dir: &Path, method: Method, path: &str, body: &Value) {
    let addresses = Addresses::read(data_dir).expect("readable").expect("known");
    let _installed = rustls::crypto::ring::default_provider().install_default();
    let http = reqwest::Client::builder().no_proxy().build().expect("a client");
    let answer = http
        .request(method, format!("{}{path}", addresses.panel.url))
        .bearer_auth(addresses.panel.token)
        .header("X-Forwarded-For", "127.0.0.1")
        .header("X-Forwarded-Proto", "https")
        .json(body)
        .send()
        .await
        .expect("answered");
    assert!(answer.status().is_success(), "{}", answer.status());
}

/// The panel keeps milliseconds.
pub(crate) fn same(one: Timestamp, other: Timestamp) -> bool {
    (one - other).num_milliseconds().abs() <= 1
}
