//! Operations as operators list them: newest first, a page at a time, without bodies.

use domain::time::Timestamp;
use sqlx::PgPool;
use uuid::Uuid;

use crate::StoreError;

/// One operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The operation.
    pub operation_id: Uuid,
    /// Whose desired state is pushed.
    pub entitlement_id: Uuid,
    /// The one remote user it is about.
    pub subscription_id: Uuid,
    /// The order it belongs to; absent for upkeep.
    pub order_id: Option<Uuid>,
    /// As stored; may be one this version does not know.
    pub operation: String,
    /// `pending`, `running`, `retrying`, `succeeded`, `failed`, `cancelled`.
    pub status: String,
    /// Desired-state version it was opened for.
    pub version: i64,
    /// Attempts of the present budget that count.
    pub attempt_count: i32,
    /// When it is due next.
    pub next_attempt_at: Timestamp,
    /// Not applied before this.
    pub effective_at: Option<Timestamp>,
    /// Stable code of the last failure, or of how it ended.
    pub last_error_code: Option<String>,
    /// An operator asked its run to end it.
    pub cancel_requested: bool,
    /// Ties together everything that one request set off.
    pub correlation_id: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it ended.
    pub completed_at: Option<Timestamp>,
}

/// Which operations. Every condition that is set must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// As stored.
    pub status: Option<String>,
    /// As stored.
    pub operation: Option<String>,
    /// Whose.
    pub entitlement_id: Option<Uuid>,
    /// Only older ones than this.
    pub before: Option<Uuid>,
    /// At most so many.
    pub limit: i64,
}

/// A page, newest first. Ids are UUIDv7, so their order is that of opening.
///
/// # Errors
/// [`StoreError`] when the statement fails.
pub async fn page(pool: &PgPool, filter: &Filter) -> Result<Vec<Row>, StoreError> {
    if filter.status.as_deref() == Some("failed") {
        return failed(pool, filter).await;
    }
    Ok(sqlx::query_as!(
        Row,
        r#"select operation_id, entitlement_id, subscription_id, order_id, operation, status, version, attempt_count, next_attempt_at,
                  effective_at, last_error_code, cancel_requested, correlation_id, created_at, completed_at
           from fulfillment_operations
           where ($1::text is null or status = $1) and ($2::text is null or operation = $2)
             and ($3::uuid is null or entitlement_id = $3) and ($4::uuid is null or operation_id < $4)
           order by operation_id desc limit $5"#,
        filter.status,
        filter.operation,
        filter.entitlement_id,
        filter.before,
        filter.limit
    )
    .fetch_all(pool)
    .await?)
}

/// The dead letters among them, by an index that holds nothing else.
async fn failed(pool: &PgPool, filter: &Filter) -> Result<Vec<Row>, StoreError> {
    Ok(sqlx::query_as!(
        Row,
        r#"select operation_id, entitlement_id, subscription_id, order_id, operation, status, version, attempt_count, next_attempt_at,
                  effective_at, last_error_code, cancel_requested, correlation_id, created_at, completed_at
           from fulfillment_operations
           where status = 'failed' and ($1::text is null or operation = $1)
             and ($2::uuid is null or entitlement_id = $2) and ($3::uuid is null or operation_id < $3)
           order by operation_id desc limit $4"#,
        filter.operation,
        filter.entitlement_id,
        filter.before,
        filter.limit
    )
    .fetch_all(pool)
    .await?)
}

/// One operation.
///
/// # Errors
/// [`StoreError`] when the statement fails.
pub async fn one(pool: &PgPool, operation_id: Uuid) -> Result<Option<Row>, StoreError> {
    Ok(sqlx::query_as!(
        Row,
        r#"select operation_id, entitlement_id, subscription_id, order_id, operation, status, version, attempt_count, next_attempt_at,
                  effective_at, last_error_code, cancel_requested, correlation_id, created_at, completed_at
           from fulfillment_operations where operation_id = $1"#,
        operation_id
    )
    .fetch_optional(pool)
    .await?)
}
