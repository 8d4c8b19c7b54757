//! Figures over the queue, for reports of a run.

use crate::{JobClient, QueueError};

impl JobClient {
    /// Jobs that ended with success and were not pruned yet, passes aside.
    ///
    /// # Errors
    /// [`QueueError::Unavailable`] when the statement fails.
    pub async fn completed(&self) -> Result<i64, QueueError> {
        let count = sqlx::query_scalar!(
            r#"select count(*) as "count!" from public.river_job where state = 'completed' and kind <> 'periodic_task'"#
        )
        .fetch_one(self.pool())
        .await?;
        Ok(count)
    }
}
