//! What the panel's journal says of a subscription, and what the log says that it should be.

use std::path::Path;

use domain::time::Timestamp;
use sandbox::{journal, panel::Effect};
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

/// The panel keeps milliseconds.
pub(crate) fn same(one: Timestamp, other: Timestamp) -> bool {
    (one - other).num_milliseconds().abs() <= 1
}
