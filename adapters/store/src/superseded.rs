//! Failed operations that a later push made good.

use sqlx::PgConnection;
use uuid::Uuid;

use crate::StoreError;

/// Failed operations whose version the panel was seen to show since, oldest first. The read model may lag behind: the stream decides. A
/// `reconcile` and a `reset_traffic` are not done by showing a version.
///
/// # Errors
/// [`StoreError`] when the statement fails.
pub async fn candidates_in(conn: &mut PgConnection, limit: i64) -> Result<Vec<Uuid>, StoreError> {
    Ok(sqlx::query_scalar!(
        r#"select operation.operation_id from fulfillment_operations operation
           join read.entitlements entitlement on entitlement.entitlement_id = operation.entitlement_id
           where operation.status = 'failed' and operation.operation not in ('reconcile', 'reset_traffic')
             and entitlement.applied_version >= operation.version
           order by operation.operation_id limit $1"#,
        limit
    )
    .fetch_all(conn)
    .await?)
}

/// Ends a failed operation with success after all; `false` when it is not failed any more.
///
/// # Errors
/// [`StoreError`] when the statement fails.
pub async fn close_in(conn: &mut PgConnection, operation_id: Uuid, code: &str) -> Result<bool, StoreError> {
    let closed = sqlx::query!(
        r#"update fulfillment_operations
           set status = 'succeeded', last_error_code = $2, cancel_requested = false, completed_at = clock_timestamp(),
               updated_at = clock_timestamp()
           where operation_id = $1 and status = 'failed'"#,
        operation_id,
        code
    )
    .execute(conn)
    .await?;
    Ok(closed.rows_affected() == 1)
}
