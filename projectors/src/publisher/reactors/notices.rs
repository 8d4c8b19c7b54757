//! `order.paid` → one notice to operators: of a renewal when time was added to a subscription that exists, of a purchase otherwise.

use domain::{
    notices::Kind,
    topics::{Bought, OrderPaid},
};
use serde_json::json;
use store::outbox::Pending;

use crate::publisher::reactor::{Effect, Notice, Refused, payload};

pub(super) fn react(row: &Pending) -> Result<Vec<Effect>, Refused> {
    let paid: OrderPaid = payload(row)?;
    let kind = match paid.operation {
        Some(Bought::Extension) => Kind::Renewal,
        Some(Bought::Purchase | Bought::Goods) | None => Kind::Purchase,
    };
    Ok(vec![Effect::Notice(Notice {
        kind: kind.as_str(),
        dedupe_key: format!("order:{}", paid.order_id),
        payload: json!({
            "orderId": paid.order_id,
            "entitlementId": paid.entitlement_id,
            "operation": paid.operation,
            "currency": paid.currency,
            "amountMinor": paid.amount_minor,
            "occurredAt": paid.occurred_at,
        }),
    })])
}
