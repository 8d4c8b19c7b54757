//! Ending a job inside the transaction that records its outcome.

use sqlx::PgConnection;

use crate::QueueError;

/// How a job ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finish {
    /// It did what it was for.
    Completed,
    /// It must not run again; not its own failure.
    Cancelled {
        /// Kept with the job for operators.
        error: String,
    },
    /// It gave up for good.
    Discarded {
        /// Kept with the job for operators.
        error: String,
    },
}

/// Ends the attempt `attempt` of a running job. River's own completion does not look at the attempt, so an attempt that was rescued and begun
/// again elsewhere would be ended by its predecessor; this statement ends only its own. `false` when the job is no longer in that attempt: the
/// caller's record stands all the same.
///
/// # Errors
/// [`QueueError::Unavailable`] when the statement fails.
pub async fn finish_in(
    conn: &mut PgConnection,
    job_id: i64,
    attempt: i32,
    finish: &Finish,
) -> Result<bool, QueueError> {
    let (state, error) = match finish {
        Finish::Completed => ("completed", None),
        Finish::Cancelled { error } => ("cancelled", Some(error.as_str())),
        Finish::Discarded { error } => ("discarded", Some(error.as_str())),
    };
    let ended = sqlx::query!(
        r#"update public.river_job
           set state = $3::text::public.river_job_state,
               finalized_at = now(),
               errors = case when $4::text is null then errors
                             else array_append(errors, jsonb_build_object(
                                      'at', to_char(now() at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
                                      'attempt', attempt, 'error', $4::text, 'trace', '')) end
           where id = $1 and state = 'running' and attempt = $2::integer"#,
        job_id,
        attempt,
        state,
        error
    )
    .execute(conn)
    .await?;
    Ok(ended.rows_affected() == 1)
}
