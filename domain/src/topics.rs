//! What committed events announce to the outside, through the outbox. Private events may change shape; these may not.
//!
//! Two internal topics become jobs; integration events carry the names and fields of the seeds, and ours beside
//! them: `eventId`, `occurredAt`, and what was bought for how much.

use serde::{Deserialize, Serialize};

use crate::{
    ids::{EntitlementId, OperationId, OrderId},
    money::Currency,
    time::Timestamp,
};

/// A message of the outbox.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Message {
    /// `entitlement.operation_opened`: becomes a `fulfillment` job.
    OperationOpened(OperationOpened),
    /// `order.paid`
    OrderPaid(OrderPaid),
    /// `delivery.owed`: becomes a `goods_delivery` job.
    DeliveryOwed(DeliveryOwed),
}

impl Message {
    /// The topic's name, as stored.
    pub const fn topic(&self) -> &'static str {
        match self {
            Self::OperationOpened(_) => "entitlement.operation_opened",
            Self::OrderPaid(_) => "order.paid",
            Self::DeliveryOwed(_) => "delivery.owed",
        }
    }
}

/// Payload of `entitlement.operation_opened`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OperationOpened {
    /// The operation that a job shall run.
    pub operation_id: OperationId,
}

/// Payload of `delivery.owed`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DeliveryOwed {
    /// The order whose goods are owed.
    pub order_id: OrderId,
}

/// Payload of `order.paid`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OrderPaid {
    /// `<aggregate type>:<id>:<sequence>` of the event.
    pub event_id: String,
    /// The event's own time.
    pub occurred_at: Timestamp,
    /// The order that settled.
    pub order_id: OrderId,
    /// The entitlement granted or extended; absent for goods.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entitlement_id: Option<EntitlementId>,
    /// What was bought; absent in rows of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<Bought>,
    /// Of the amount.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub currency: Option<Currency>,
    /// What settled it, in minor units: the external and the wallet part together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amount_minor: Option<i64>,
}

/// What an order buys, as others are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bought {
    /// A new subscription.
    Purchase,
    /// More time on a subscription that exists.
    Extension,
    /// Digital goods.
    Goods,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{at, id};

    /// Others have code for these names and fields.
    #[test]
    fn payloads_keep_their_names_and_fields() {
        let paid = |entitlement_id, operation| {
            Message::OrderPaid(OrderPaid {
                event_id: "order:1:4".to_owned(),
                occurred_at: at(0),
                order_id: id(1),
                entitlement_id,
                operation,
                currency: operation.map(|_| "RUB".parse().expect("a currency")),
                amount_minor: operation.map(|_| 29_900),
            })
        };
        let one = "00000000-0000-0000-0000-000000000001";
        let vectors = [
            (
                Message::OperationOpened(OperationOpened { operation_id: id(1) }),
                "entitlement.operation_opened",
                format!(r#"{{"operationId":"{one}"}}"#),
            ),
            (
                Message::DeliveryOwed(DeliveryOwed { order_id: id(1) }),
                "delivery.owed",
                format!(r#"{{"orderId":"{one}"}}"#),
            ),
            (
                paid(Some(id(1)), Some(Bought::Extension)),
                "order.paid",
                format!(
                    r#"{{"eventId":"order:1:4","occurredAt":"2030-03-17T17:46:40Z","orderId":"{one}","entitlementId":"{one}","operation":"extension","currency":"RUB","amountMinor":29900}}"#
                ),
            ),
            (
                paid(None, None),
                "order.paid",
                format!(r#"{{"eventId":"order:1:4","occurredAt":"2030-03-17T17:46:40Z","orderId":"{one}"}}"#),
            ),
        ];
        for (message, topic, json) in vectors {
            assert_eq!(message.topic(), topic);
            assert_eq!(serde_json::to_string(&message).expect("serialises"), json);
        }
    }
}
