//! Who receives goods: personal data, kept beside the log so that it can be erased while the facts of the delivery stay.

use std::fmt;

use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

use crate::StoreError;

/// The recipient of one order's goods.
#[derive(Clone, PartialEq, Eq)]
pub struct Recipient {
    /// Normalised Telegram username, without `@`.
    pub username: String,
    /// Telegram id of the buyer, where known.
    pub telegram_user_id: Option<i64>,
}

impl fmt::Debug for Recipient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recipient").finish_non_exhaustive()
    }
}

/// Keeps the recipient of a new order.
pub async fn insert_recipient_in(
    conn: &mut PgConnection,
    order_id: Uuid,
    recipient: &Recipient,
) -> Result<(), StoreError> {
    sqlx::query!(
        "insert into delivery_recipients (order_id, username, telegram_user_id) values ($1, $2, $3)",
        order_id,
        recipient.username,
        recipient.telegram_user_id,
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// The recipient of an order; `None` when there is none, or it was erased.
pub async fn recipient(pool: &PgPool, order_id: Uuid) -> Result<Option<Recipient>, StoreError> {
    let row = sqlx::query_as!(
        Recipient,
        "select username, telegram_user_id from delivery_recipients where order_id = $1",
        order_id
    )
    .fetch_optional(pool)
    .await?;
    Ok(row)
}

/// As [`recipient`], in the caller's transaction.
///
/// # Errors
/// [`StoreError`] when the statement fails.
pub async fn recipient_in(conn: &mut PgConnection, order_id: Uuid) -> Result<Option<Recipient>, StoreError> {
    let row = sqlx::query_as!(
        Recipient,
        "select username, telegram_user_id from delivery_recipients where order_id = $1",
        order_id
    )
    .fetch_optional(conn)
    .await?;
    Ok(row)
}

/// Erases the recipient of an order. `false` when there was none.
pub async fn erase_recipient(pool: &PgPool, order_id: Uuid) -> Result<bool, StoreError> {
    let done = sqlx::query!("delete from delivery_recipients where order_id = $1", order_id)
        .execute(pool)
        .await?;
    Ok(done.rows_affected() == 1)
}
