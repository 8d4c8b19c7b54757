//! Whose turn it is to write to the group, and until when nobody may. One process at a time keeps the group's pace.

use std::time::Duration;

use sqlx::PgPool;
use uuid::Uuid;

use crate::StoreError;

/// A turn that was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// It is the caller's.
    Taken {
        /// The group as it is to be addressed.
        chat_id: i64,
        /// Nothing may be sent for so long; zero is: go on.
        paused: Duration,
        /// Failures in a row that were not one notice's own.
        pauses: i32,
    },
    /// Another process has it.
    Refused,
}

/// The group as it was addressed last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Its id.
    pub chat_id: i64,
    /// Nothing may be sent for so many seconds yet.
    pub paused_seconds: i64,
    /// Why.
    pub pause_code: Option<String>,
}

/// Takes the turn when it is nobody's. Another group than before begins anew: without a pause and without topics.
///
/// # Errors
/// [`StoreError`] when the statement fails.
pub async fn take_turn(
    pool: &PgPool,
    configured_chat_id: i64,
    token: Uuid,
    span: Duration,
) -> Result<Turn, StoreError> {
    let taken = sqlx::query!(
        r#"insert into operator_group as one (configured_chat_id, chat_id, turn_token, turn_until)
           values ($1, $1, $2, clock_timestamp() + make_interval(secs => $3))
           on conflict (singleton) do update
               set chat_id = case when one.configured_chat_id = $1 then one.chat_id else $1 end,
                   paused_until = case when one.configured_chat_id = $1 then one.paused_until end,
                   pause_code = case when one.configured_chat_id = $1 then one.pause_code end,
                   pauses = case when one.configured_chat_id = $1 then one.pauses else 0 end,
                   configured_chat_id = $1, turn_token = $2, turn_until = clock_timestamp() + make_interval(secs => $3)
               where one.turn_until is null or one.turn_until <= clock_timestamp()
           returning chat_id, pauses,
               coalesce(greatest(extract(epoch from paused_until - clock_timestamp()), 0), 0)::float8 as "paused!""#,
        configured_chat_id,
        token,
        span.as_secs_f64()
    )
    .fetch_optional(pool)
    .await?;
    Ok(taken.map_or(Turn::Refused, |row| Turn::Taken {
        chat_id: row.chat_id,
        paused: Duration::try_from_secs_f64(row.paused).unwrap_or_default(),
        pauses: row.pauses,
    }))
}

/// Gives the turn back.
///
/// # Errors
/// [`StoreError`] when the statement fails.
pub async fn end_turn(pool: &PgPool, token: Uuid) -> Result<(), StoreError> {
    sqlx::query!(
        "update operator_group set turn_until = null, turn_token = null where turn_token = $1",
        token
    )
    .execute(pool)
    .await?;
    Ok(())
}

/// Leaves the group alone for a while. A longer pause that is under way stays.
///
/// # Errors
/// [`StoreError`] when the statement fails.
pub async fn pause(pool: &PgPool, span: Duration, code: &str, is_failure: bool) -> Result<(), StoreError> {
    sqlx::query!(
        r#"update operator_group
              set paused_until = greatest(paused_until, clock_timestamp() + make_interval(secs => $1)), pause_code = $2,
                  pauses = case when $3 then least(pauses, 1000) + 1 else pauses end"#,
        span.as_secs_f64(),
        code,
        is_failure
    )
    .execute(pool)
    .await?;
    Ok(())
}

/// Something got through: failures are counted anew.
///
/// # Errors
/// [`StoreError`] when the statement fails.
pub async fn resume(pool: &PgPool) -> Result<(), StoreError> {
    sqlx::query!("update operator_group set paused_until = null, pause_code = null, pauses = 0 where pauses > 0")
        .execute(pool)
        .await?;
    Ok(())
}

/// The group got another id.
///
/// # Errors
/// [`StoreError`] when the statement fails.
pub async fn moved(pool: &PgPool, from: i64, to: i64) -> Result<(), StoreError> {
    sqlx::query!("update operator_group set chat_id = $2 where chat_id = $1", from, to)
        .execute(pool)
        .await?;
    Ok(())
}

/// The group as it was addressed last; nothing when none ever was.
///
/// # Errors
/// [`StoreError`] when the statement fails.
pub async fn group(pool: &PgPool) -> Result<Option<Group>, StoreError> {
    Ok(sqlx::query_as!(
        Group,
        r#"select chat_id, pause_code,
                  coalesce(greatest(ceil(extract(epoch from paused_until - clock_timestamp())), 0), 0)::bigint as "paused_seconds!"
             from operator_group"#
    )
    .fetch_optional(pool)
    .await?)
}
