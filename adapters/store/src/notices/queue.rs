//! Queueing a notice, in the transaction of the change it is about.

use serde_json::Value;
use sqlx::PgConnection;

use crate::StoreError;

/// Queues a notice; `false` when the same was queued before. `kind` is the word of a [`domain::notices::Kind`]; the payload holds ids,
/// amounts and codes, no personal data.
///
/// # Errors
/// [`StoreError`] when the statement fails.
pub async fn insert_in(
    conn: &mut PgConnection,
    kind: &str,
    dedupe_key: &str,
    payload: &Value,
) -> Result<bool, StoreError> {
    let inserted = sqlx::query!(
        r#"insert into operator_notices (kind, dedupe_key, payload) values ($1, $2, $3)
           on conflict on constraint operator_notices_dedupe_key do nothing"#,
        kind,
        dedupe_key,
        payload
    )
    .execute(conn)
    .await?;
    Ok(inserted.rows_affected() == 1)
}
