//! `order.paid` → one notice of the purchase to operators.

use domain::topics::OrderPaid;
use serde_json::json;
use store::outbox::Pending;

use crate::publisher::reactor::{Effect, Notice, Refused, payload};

pub(super) fn react(row: &Pending) -> Result<Vec<Effect>, Refused> {
    let paid: OrderPaid = payload(row)?;
    Ok(vec![Effect::Notice(Notice {
        kind: "purchase",
        dedupe_key: format!("order:{}", paid.order_id),
        payload: json!({
            "orderId": paid.order_id,
            "entitlementId": paid.entitlement_id,
            "occurredAt": paid.occurred_at,
        }),
    })])
}
