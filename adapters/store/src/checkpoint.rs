//! How far each read model has followed the log, and the event that stopped one.

use domain::time::Timestamp;
use sqlx::{PgConnection, PgPool};

use crate::error::StoreError;

/// The cursor of one read model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// Name of the read model.
    pub name: String,
    /// Every event up to here is in its rows.
    pub position: i64,
    /// When the cursor moved last.
    pub updated_at: Timestamp,
    /// Position of the event that stops it; `None` while it runs.
    pub failed_position: Option<i64>,
    /// Why.
    pub failed_code: Option<String>,
    /// Since when.
    pub failed_at: Option<Timestamp>,
}

/// All cursors by name, those of unfinished rebuilds (`rebuild:…`) included.
///
/// # Errors
/// What the database says.
pub async fn list(pool: &PgPool) -> Result<Vec<Checkpoint>, StoreError> {
    let rows = sqlx::query_as!(
        Checkpoint,
        "select name, position, updated_at, failed_position, failed_code, failed_at from projection_checkpoints order by name"
    )
    .fetch_all(pool)
    .await?;
    Ok(rows)
}

/// Makes the cursor at 0 unless it is there, and answers where it stands.
///
/// # Errors
/// What the database says.
pub async fn ensure(pool: &PgPool, name: &str) -> Result<i64, StoreError> {
    if let Some(position) = position(pool, name).await? {
        return Ok(position);
    }
    sqlx::query!(
        "insert into projection_checkpoints (name) values ($1) on conflict (name) do nothing",
        name
    )
    .execute(pool)
    .await?;
    Ok(position(pool, name).await?.unwrap_or(0))
}

/// Where the cursor stands; `None` when there is none.
///
/// # Errors
/// What the database says.
pub async fn position(pool: &PgPool, name: &str) -> Result<Option<i64>, StoreError> {
    let found = sqlx::query_scalar!("select position from projection_checkpoints where name = $1", name)
        .fetch_optional(pool)
        .await?;
    Ok(found)
}

/// The same, inside a transaction and its snapshot.
///
/// # Errors
/// What the database says.
pub async fn position_in(connection: &mut PgConnection, name: &str) -> Result<Option<i64>, StoreError> {
    let found = sqlx::query_scalar!("select position from projection_checkpoints where name = $1", name)
        .fetch_optional(connection)
        .await?;
    Ok(found)
}

/// Takes the cursor for this transaction unless another has it, and makes the commit not wait for the disk: cursor and rows move together
/// and both can be derived again. `None`: another runner is at it, or the cursor does not exist.
///
/// # Errors
/// What the database says.
pub async fn take_in(connection: &mut PgConnection, name: &str) -> Result<Option<i64>, StoreError> {
    let found = sqlx::query!(
        r#"select position, set_config('synchronous_commit', 'off', true) as ignored
             from projection_checkpoints where name = $1 for update skip locked"#,
        name
    )
    .fetch_optional(connection)
    .await?;
    Ok(found.map(|row| row.position))
}

/// Takes the cursor for this transaction, waiting for whoever has it as long as `lock_timeout` allows.
///
/// # Errors
/// What the database says, `lock_timeout` included.
pub async fn wait_and_take_in(connection: &mut PgConnection, name: &str) -> Result<Option<i64>, StoreError> {
    let found = sqlx::query_scalar!(
        "select position from projection_checkpoints where name = $1 for update",
        name
    )
    .fetch_optional(connection)
    .await?;
    Ok(found)
}

/// Moves the cursor forward, never back, making it when it is not there; a failure it carried is over.
///
/// # Errors
/// What the database says.
pub async fn advance_in(connection: &mut PgConnection, name: &str, position: i64) -> Result<(), StoreError> {
    sqlx::query!(
        "insert into projection_checkpoints as c (name, position) values ($1, $2)
             on conflict (name) do update set position = greatest(c.position, excluded.position), updated_at = clock_timestamp(),
                failed_position = null, failed_code = null, failed_at = null",
        name,
        position
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// Names the event that stops a read model. The time of the first stop is kept while the same event stops it.
///
/// # Errors
/// What the database says.
pub async fn stop(pool: &PgPool, name: &str, position: i64, code: &str) -> Result<(), StoreError> {
    sqlx::query!(
        "update projection_checkpoints set failed_code = $3,
                failed_at = case when failed_position = $2 then failed_at else clock_timestamp() end, failed_position = $2
          where name = $1 and position < $2",
        name,
        position,
        code
    )
    .execute(pool)
    .await?;
    Ok(())
}

/// Forgets a cursor: the rows it stood for are gone.
///
/// # Errors
/// What the database says.
pub async fn forget_in(connection: &mut PgConnection, name: &str) -> Result<(), StoreError> {
    sqlx::query!("delete from projection_checkpoints where name = $1", name)
        .execute(connection)
        .await?;
    Ok(())
}
