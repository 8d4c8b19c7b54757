//! What use cases answer with: plain, serialisable, without secrets. The field names are those of the wire.

use domain::{
    order::{Item, Operation, Order, State},
    time::Timestamp,
};
use serde::{Deserialize, Serialize};
use store::payments::IntentRow;
use uuid::Uuid;

/// An order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OrderView {
    /// The order.
    pub id: Uuid,
    /// Who buys.
    pub customer_id: Uuid,
    /// `pending`, `paid`, `fulfilled`, `cancelled`, `expired`.
    pub state: String,
    /// `purchase`, `extension`, `goods`.
    pub operation: String,
    /// Of all amounts.
    pub currency: String,
    /// Before the discount.
    pub subtotal_minor: i64,
    /// Taken off.
    pub discount_minor: i64,
    /// Brought by the wallet.
    pub wallet_minor: i64,
    /// To be brought by a provider.
    pub external_minor: i64,
    /// What settled it.
    pub paid_minor: i64,
    /// What was given back.
    pub refunded_minor: i64,
    /// Granted or extended when it settles; absent for goods.
    pub entitlement_id: Option<Uuid>,
    /// The remote user that it is for; absent for goods.
    pub subscription_id: Option<Uuid>,
    /// End of the time to pay.
    pub expires_at: Timestamp,
    /// When it was placed.
    pub created_at: Timestamp,
}

impl OrderView {
    /// Of a placed order; `None` before that.
    pub(crate) fn of(order: &Order) -> Option<Self> {
        let (operation, entitlement_id, subscription_id) = match order.item.as_ref()? {
            Item::Plan {
                operation,
                entitlement_id,
                subscription_id,
                ..
            } => (
                operation_name(*operation),
                Some(entitlement_id.as_uuid()),
                Some(subscription_id.as_uuid()),
            ),
            Item::Goods { .. } => ("goods", None, None),
        };
        Some(Self {
            id: order.order_id.as_uuid(),
            customer_id: order.customer_id.as_uuid(),
            state: state_name(order.state).to_owned(),
            operation: operation.to_owned(),
            currency: order.currency?.as_str().to_owned(),
            subtotal_minor: order.subtotal_minor,
            discount_minor: order.discount_minor,
            wallet_minor: order.wallet_minor,
            external_minor: order.external_minor,
            paid_minor: order.paid_minor,
            refunded_minor: 0,
            entitlement_id,
            subscription_id,
            expires_at: order.expires_at?,
            created_at: order.created_at?,
        })
    }
}

/// The wire's word for what an order does.
pub(crate) const fn operation_name(operation: Operation) -> &'static str {
    match operation {
        Operation::Purchase => "purchase",
        Operation::Extension => "extension",
    }
}

/// The wire's word for how far an order came.
pub(crate) const fn state_name(state: State) -> &'static str {
    match state {
        State::Absent => "draft",
        State::Pending => "pending",
        State::Paid => "paid",
        State::Fulfilled => "fulfilled",
        State::Cancelled => "cancelled",
        State::Expired => "expired",
    }
}

/// A request for money at a provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PaymentView {
    /// The intent.
    pub id: Uuid,
    /// What it pays for.
    pub order_id: Uuid,
    /// Slug of the provider.
    pub provider: String,
    /// `pending`, `requires_action`, `processing`, `succeeded`, `failed`, `cancelled`, `expired`.
    pub status: String,
    /// What was asked for.
    pub amount_minor: i64,
    /// Of the amount.
    pub currency: String,
    /// The provider's id of it.
    pub provider_reference: Option<String>,
    /// Where the customer pays.
    pub checkout_url: Option<String>,
}

impl From<IntentRow> for PaymentView {
    fn from(row: IntentRow) -> Self {
        Self {
            id: row.intent_id,
            order_id: row.order_id,
            provider: row.provider,
            status: row.status,
            amount_minor: row.amount_minor,
            currency: row.currency,
            provider_reference: row.provider_reference,
            checkout_url: row.checkout_url,
        }
    }
}
