//! Figures of the queue for metrics.

use crate::{JobClient, QueueError};

/// Jobs of one queue in one state.
#[derive(Clone, Debug, PartialEq)]
pub struct Depth {
    /// The queue; other programs may have queues of their own.
    pub queue: String,
    /// As River calls it.
    pub state: String,
    /// How many.
    pub count: i64,
    /// How long the longest waiting one has been due, in seconds; 0 where none is.
    pub due_seconds: f64,
}

impl JobClient {
    /// Jobs that have not ended, and those that were discarded and not pruned yet.
    ///
    /// # Errors
    /// [`QueueError::Unavailable`] when the statement fails.
    pub async fn depths(&self) -> Result<Vec<Depth>, QueueError> {
        Ok(sqlx::query_as!(
            Depth,
            r#"select queue as "queue!", state::text as "state!", count(*) as "count!",
                      coalesce(extract(epoch from clock_timestamp() - min(scheduled_at) filter
                          (where state <> 'running' and scheduled_at <= clock_timestamp())), 0)::float8 as "due_seconds!"
                 from public.river_job where state in ('available', 'pending', 'retryable', 'running', 'scheduled')
                group by queue, state
               union all
               select queue, 'discarded', count(*), 0 from public.river_job
                where state = 'discarded' and finalized_at is not null group by queue"#
        )
        .fetch_all(self.pool())
        .await?)
    }
}
