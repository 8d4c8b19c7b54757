//! What committed events announce to the outside, through the outbox. Private events may change shape; these may not.
//!
//! Two internal topics become jobs; integration events carry the names and fields of the seeds plus `eventId` and `occurredAt`.

use serde::{Deserialize, Serialize};

use crate::{
    ids::{EntitlementId, OperationId, OrderId},
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
}
