//! Reading the read models: lists and searches, each with the position it had reached. One entity is read by folding its stream.

use std::time::Duration;

use domain::time::Timestamp;
use sqlx::PgPool;
use uuid::Uuid;

use crate::StoreError;

/// How often a waiting reader looks again.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// One order of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderRow {
    /// The order.
    pub order_id: Uuid,
    /// Who buys.
    pub customer_id: Uuid,
    /// `purchase`, `extension`, `goods`.
    pub operation: String,
    /// `pending`, `paid`, …
    pub state: String,
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
    /// Absent for goods.
    pub entitlement_id: Option<Uuid>,
    /// Absent for goods.
    pub subscription_id: Option<Uuid>,
    /// End of the time to pay.
    pub expires_at: Timestamp,
    /// When it was placed.
    pub created_at: Timestamp,
}

/// Which orders.
#[derive(Clone, Debug, Default)]
pub struct OrderFilter {
    /// Only this customer's.
    pub customer_id: Option<Uuid>,
    /// Only in this state.
    pub state: Option<String>,
    /// At most so many.
    pub limit: i64,
}

/// Rows and the position that the read model had reached when they were read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page<T> {
    /// The position.
    pub position: i64,
    /// The rows.
    pub rows: Vec<T>,
}

/// Orders, newest first. The position is read before the rows, so they are at least as new as it says.
pub async fn orders(pool: &PgPool, filter: &OrderFilter) -> Result<Page<OrderRow>, StoreError> {
    let position = position(pool, "orders").await?;
    let rows = sqlx::query_as!(
        OrderRow,
        "select order_id, customer_id, operation, state, currency, subtotal_minor, discount_minor, wallet_minor,
                external_minor, paid_minor, entitlement_id, subscription_id, expires_at, created_at
         from read.orders
         where ($1::uuid is null or customer_id = $1) and ($2::text is null or state = $2)
         order by created_at desc, order_id desc
         limit $3",
        filter.customer_id,
        filter.state,
        filter.limit
    )
    .fetch_all(pool)
    .await?;
    Ok(Page { position, rows })
}

/// Unpaid orders whose window ended before `now`, longest ended first. The read model may lag: the order itself decides.
pub async fn orders_to_expire(pool: &PgPool, now: Timestamp, limit: i64) -> Result<Vec<Uuid>, StoreError> {
    let ids = sqlx::query_scalar!(
        "select order_id from read.orders where state = 'pending' and expires_at <= $1
         order by expires_at, order_id limit $2",
        now,
        limit
    )
    .fetch_all(pool)
    .await?;
    Ok(ids)
}

/// How far a read model has followed the log; 0 before its first step.
pub async fn position(pool: &PgPool, projection: &str) -> Result<i64, StoreError> {
    let position = sqlx::query_scalar!(
        "select position from projection_checkpoints where name = $1",
        projection
    )
    .fetch_optional(pool)
    .await?;
    Ok(position.unwrap_or(0))
}

/// Waits until a read model has followed the log to `position`, at most `patience`. `false` when it has not.
pub async fn wait_for(pool: &PgPool, projection: &str, wanted: i64, patience: Duration) -> Result<bool, StoreError> {
    let reached = tokio::time::timeout(patience, async {
        while position(pool, projection).await? < wanted {
            tokio::time::sleep(LOOK_EVERY).await;
        }
        Ok(true)
    });
    reached.await.unwrap_or(Ok(false))
}
