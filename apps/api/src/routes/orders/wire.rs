//! Orders on the wire.

use chrono::{DateTime, Utc};
use domain::ids::{CustomerId, EntitlementId, PlanVersionId};
use serde::{Deserialize, Serialize};
use service::{OrderView, PlaceOrder, RecipientIn, Wanted};
use store::read_model::Page;
use utoipa::ToSchema;
use uuid::Uuid;

use axum::http::StatusCode;

use crate::problem::Problem;

/// What an order does.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum OperationIn {
    /// A new subscription: needs `planVersionId`.
    Purchase,
    /// More time: needs `planVersionId` and `entitlementId`.
    Extension,
    /// Digital goods: needs `product` and `recipient`.
    Goods,
}

/// A new order.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::routes) struct PlaceOrderIn {
    /// Who buys.
    #[serde(alias = "customerID")]
    customer_id: Uuid,
    /// Three upper-case letters.
    #[schema(example = "RUB")]
    currency: String,
    operation: OperationIn,
    /// As in `GET /v1/catalog/plans`.
    #[serde(default, alias = "planVersionID")]
    plan_version_id: Option<Uuid>,
    /// The entitlement to extend.
    #[serde(default, alias = "entitlementID")]
    entitlement_id: Option<Uuid>,
    /// Code of the goods.
    #[serde(default)]
    product: Option<String>,
    /// Who receives the goods.
    #[serde(default)]
    recipient: Option<GoodsRecipientIn>,
}

/// Who receives goods.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct GoodsRecipientIn {
    /// `name`, `@name` or a t.me link.
    username: String,
    /// Telegram id of the buyer.
    #[serde(default, alias = "telegramUserID")]
    telegram_user_id: Option<i64>,
}

impl PlaceOrderIn {
    /// The request, if its fields fit its operation.
    pub(super) fn parse(self) -> Result<PlaceOrder, Problem> {
        let currency = self
            .currency
            .parse()
            .map_err(|_| Problem::invalid_request("unknown currency"))?;
        let plan = self.plan_version_id.map(PlanVersionId::new);
        let target = self.entitlement_id.map(EntitlementId::new);
        let item = match (self.operation, plan, target, self.product, self.recipient) {
            (OperationIn::Purchase, Some(plan_version_id), None, None, None) => Wanted::Purchase { plan_version_id },
            (OperationIn::Extension, Some(plan_version_id), Some(entitlement_id), None, None) => Wanted::Extension {
                plan_version_id,
                entitlement_id,
            },
            (OperationIn::Extension, Some(_), None, None, None) => {
                return Err(Problem::new(
                    StatusCode::UNPROCESSABLE_ENTITY,
                    "subscription_target_required",
                    "an extension names the entitlement it extends",
                ));
            }
            (OperationIn::Goods, None, None, Some(product), Some(recipient)) => Wanted::Goods {
                product,
                recipient: RecipientIn {
                    username: recipient.username,
                    telegram_user_id: recipient.telegram_user_id,
                },
            },
            _ => return Err(Problem::invalid_request("the fields do not fit the operation")),
        };
        Ok(PlaceOrder {
            customer_id: CustomerId::new(self.customer_id),
            currency,
            item,
        })
    }
}

/// An order.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::routes) struct OrderOut {
    id: Uuid,
    customer_id: Uuid,
    /// `pending`, `paid`, `fulfilled`, `cancelled`, `expired`.
    state: String,
    /// `purchase`, `extension`, `goods`.
    operation: String,
    currency: String,
    subtotal_minor: i64,
    discount_minor: i64,
    wallet_minor: i64,
    /// What a provider must bring, exactly.
    external_minor: i64,
    paid_minor: i64,
    refunded_minor: i64,
    /// Granted or extended when the order settles; absent for goods.
    #[serde(skip_serializing_if = "Option::is_none")]
    entitlement_id: Option<Uuid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    subscription_id: Option<Uuid>,
    expires_at: DateTime<Utc>,
    created_at: DateTime<Utc>,
}

impl From<OrderView> for OrderOut {
    fn from(order: OrderView) -> Self {
        Self {
            id: order.id,
            customer_id: order.customer_id,
            state: order.state,
            operation: order.operation,
            currency: order.currency,
            subtotal_minor: order.subtotal_minor,
            discount_minor: order.discount_minor,
            wallet_minor: order.wallet_minor,
            external_minor: order.external_minor,
            paid_minor: order.paid_minor,
            refunded_minor: order.refunded_minor,
            entitlement_id: order.entitlement_id,
            subscription_id: order.subscription_id,
            expires_at: order.expires_at,
            created_at: order.created_at,
        }
    }
}

/// Orders, and how far the list has followed the log.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::routes) struct OrderListOut {
    items: Vec<OrderOut>,
    /// To be sent back as `If-Position-At-Least`.
    position: i64,
}

impl From<Page<OrderView>> for OrderListOut {
    fn from(page: Page<OrderView>) -> Self {
        Self {
            items: page.rows.into_iter().map(OrderOut::from).collect(),
            position: page.position,
        }
    }
}

/// A state to filter by.
pub(super) fn state(text: &str) -> Result<String, Problem> {
    let known = ["pending", "paid", "fulfilled", "cancelled", "expired"];
    if known.contains(&text) {
        Ok(text.to_owned())
    } else {
        Err(Problem::new(
            StatusCode::BAD_REQUEST,
            "invalid_state",
            "there is no such state of an order",
        ))
    }
}
