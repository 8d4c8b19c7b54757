//! The last run of each periodic pass, so that a new leader does not repeat what ran a moment ago.

use std::time::Duration;

use chrono::{DateTime, Utc};
use serde_json::Value;
use sqlx::PgConnection;

use crate::StoreError;

/// Notes the start of a run, unless one that did not fail started less than nine tenths of `interval` ago. Answers the start.
///
/// # Errors
/// [`StoreError`] when the statement fails.
pub async fn begin_in(
    conn: &mut PgConnection,
    task: &str,
    interval: Duration,
) -> Result<Option<DateTime<Utc>>, StoreError> {
    Ok(sqlx::query_scalar!(
        r#"insert into pass_runs as run (task, started_at) values ($1, clock_timestamp())
           on conflict (task) do update set started_at = clock_timestamp(), finished_at = null, outcome = null, detail = null
               where run.outcome = 'failed' or run.started_at <= clock_timestamp() - make_interval(secs => 0.9 * $2::float8)
           returning started_at"#,
        task,
        interval.as_secs_f64()
    )
    .fetch_optional(conn)
    .await?)
}

/// Notes how the run that began at `started_at` ended. A run that was overtaken changes nothing.
///
/// # Errors
/// [`StoreError`] when the statement fails.
pub async fn end_in(
    conn: &mut PgConnection,
    task: &str,
    started_at: DateTime<Utc>,
    succeeded: bool,
    detail: &Value,
) -> Result<(), StoreError> {
    sqlx::query!(
        r#"update pass_runs set finished_at = clock_timestamp(), outcome = case when $3 then 'succeeded' else 'failed' end, detail = $4
           where task = $1 and started_at = $2"#,
        task,
        started_at,
        succeeded,
        detail
    )
    .execute(conn)
    .await?;
    Ok(())
}
