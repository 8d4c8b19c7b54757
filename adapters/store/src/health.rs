//! Whether the database answers.

use sqlx::PgPool;

use crate::StoreError;

/// One round trip.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn ping(pool: &PgPool) -> Result<(), StoreError> {
    sqlx::query_scalar!("select 1").fetch_one(pool).await?;
    Ok(())
}
