//! The two short statements round a request: that it is about to be sent, and what came of it. Both are fenced by the lease's token.

use std::time::Duration;

use sqlx::PgPool;
use uuid::Uuid;

use crate::StoreError;

/// What came of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome<'a> {
    /// It stands in the group.
    Sent,
    /// Another try, later.
    Later {
        /// Not before this has passed.
        delay: Duration,
        /// Why it did not get through.
        code: &'a str,
        /// It may stand in the group.
        is_unanswered: bool,
        /// The request counts; otherwise it is given back.
        counted: bool,
    },
    /// No other try by itself.
    Failed {
        /// Why.
        code: &'a str,
        /// It may stand in the group.
        is_unanswered: bool,
    },
}

/// Notes that a leased notice is about to be sent. `false` when the lease ended: then it must not be.
///
/// # Errors
/// [`StoreError`] when the statement fails.
pub async fn begin(pool: &PgPool, notice_id: i64, token: Uuid) -> Result<bool, StoreError> {
    let begun = sqlx::query!(
        r#"update operator_notices set status = 'sending', attempts = attempts + 1, attempted_at = clock_timestamp()
            where notice_id = $1 and lease_token = $2 and status = 'pending' and leased_until > clock_timestamp()"#,
        notice_id,
        token
    )
    .execute(pool)
    .await?;
    Ok(begun.rows_affected() == 1)
}

/// Records what came of it. `false` when somebody else took the notice over meanwhile: then it is theirs to record.
///
/// # Errors
/// [`StoreError`] when the statement fails.
pub async fn record(pool: &PgPool, notice_id: i64, token: Uuid, outcome: Outcome<'_>) -> Result<bool, StoreError> {
    let (status, delay, code, is_unanswered, counted) = match outcome {
        Outcome::Sent => ("sent", Duration::ZERO, None, false, true),
        Outcome::Later {
            delay,
            code,
            is_unanswered,
            counted,
        } => ("pending", delay, Some(code), is_unanswered, counted),
        Outcome::Failed { code, is_unanswered } => ("failed", Duration::ZERO, Some(code), is_unanswered, true),
    };
    let recorded = sqlx::query!(
        r#"update operator_notices
              set status = $3, error_code = $4, sent_at = case when $3 = 'sent' then clock_timestamp() end,
                  next_attempt_at = clock_timestamp() + make_interval(secs => $5),
                  unanswered = unanswered + case when $6 then 1 else 0 end,
                  attempts = attempts - case when $7 then 0 else 1 end,
                  lease_token = null, leased_until = null
            where notice_id = $1 and lease_token = $2 and status = 'sending'"#,
        notice_id,
        token,
        status,
        code,
        delay.as_secs_f64(),
        is_unanswered,
        counted
    )
    .execute(pool)
    .await?;
    Ok(recorded.rows_affected() == 1)
}
