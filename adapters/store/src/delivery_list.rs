//! Deliveries as operators look for them, from their read model. One delivery is read by folding its stream.

use domain::time::Timestamp;
use sqlx::PgPool;
use uuid::Uuid;

use crate::{
    StoreError,
    read_model::{Page, position},
};

/// One delivery of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryRow {
    /// The order that owes it; also its id.
    pub order_id: Uuid,
    /// Who bought.
    pub customer_id: Uuid,
    /// Slug of the provider.
    pub provider: String,
    /// What was bought.
    pub product_code: String,
    /// `owed`, `submitting`, `accepted`, `retry_wait`, `needs_review`, `delivered`, `failed` or `cancelled`.
    pub state: String,
    /// Submissions started.
    pub attempts: i32,
    /// The provider's reference, once it accepted.
    pub provider_reference: Option<String>,
    /// Class of the last failure.
    pub failure_class: Option<String>,
    /// Code of the last failure.
    pub error_code: Option<String>,
    /// Owed back to the customer, in minor units; 0 where nothing is.
    pub refund_owed_minor: i64,
    /// Of that debt.
    pub currency: String,
    /// When it was owed first.
    pub owed_at: Timestamp,
    /// When it ended.
    pub closed_at: Option<Timestamp>,
}

/// Which deliveries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Listed {
    /// All of them.
    All,
    /// In this state.
    State(String),
    /// Those whose end without goods left a debt, whatever their state.
    RefundOwed,
}

/// The list's one statement, with the condition that makes it another.
macro_rules! list {
    ($pool:expr, $before:expr, $limit:expr, $condition:literal $(, $bind:expr)*) => {
        sqlx::query_as!(
            DeliveryRow,
            "select order_id, customer_id, provider, product_code, state, attempts, provider_reference, failure_class, error_code,
                    refund_owed_minor, currency, owed_at, closed_at
             from read.deliveries where ($1::uuid is null or order_id < $1) and "
                + $condition
                + " order by order_id desc limit $2",
            $before,
            $limit
            $(, $bind)*
        )
        .fetch_all($pool)
        .await
    };
}

/// Deliveries, newest order first, those before `before` only. The position is read before the rows, so they are at least as new as it says.
///
/// # Errors
/// [`StoreError`] when a statement fails.
pub async fn list(
    pool: &PgPool,
    listed: &Listed,
    before: Option<Uuid>,
    limit: i64,
) -> Result<Page<DeliveryRow>, StoreError> {
    let position = position(pool, "deliveries").await?;
    // A condition with its constant in the text can use the index that is made for it.
    let rows = match listed {
        Listed::All => list!(pool, before, limit, "true"),
        Listed::RefundOwed => list!(pool, before, limit, "refund_owed_minor > 0"),
        Listed::State(state) if state == "needs_review" => list!(pool, before, limit, "state = 'needs_review'"),
        Listed::State(state) => list!(pool, before, limit, "state = $3", state),
    };
    Ok(Page { position, rows: rows? })
}
