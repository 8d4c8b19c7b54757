//! Pages of the log as it is stored, for `events tail`, `show` and `export`.
//!
//! Not for projections: these read behind the fence. A page read here may miss a position that commits later.

use domain::{aggregate::Decide, time::Timestamp};
use serde_json::Value;
use sqlx::PgExecutor;
use uuid::Uuid;

use crate::{
    StoreError,
    codec::{Decoder, Stored},
};

/// An event as its row holds it, before upcasting.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredEvent {
    /// Place in the whole log.
    pub position: i64,
    /// `order`, `entitlement` or `delivery`.
    pub aggregate_type: String,
    /// The stream's id.
    pub aggregate_id: String,
    /// Place in the stream, from 1.
    pub sequence: i64,
    /// As stored.
    pub event_type: String,
    /// As stored.
    pub event_version: String,
    /// The event itself.
    pub payload: Value,
    /// What travels beside it.
    pub metadata: Value,
    /// By the database's clock.
    pub recorded_at: Timestamp,
    /// The link; absent in rows of foreign writers.
    pub hash: Option<Vec<u8>>,
}

/// Events with `after < position ≤ upto`, by position; at most `limit`.
///
/// # Errors
/// [`StoreError::Unavailable`] and the like.
pub async fn read_range(
    executor: impl PgExecutor<'_>,
    after: i64,
    upto: i64,
    limit: i64,
) -> Result<Vec<StoredEvent>, StoreError> {
    let events = sqlx::query_as!(
        StoredEvent,
        "select position, aggregate_type, aggregate_id, sequence, event_type, event_version, payload, metadata, recorded_at, hash
        from events where position > $1 and position <= $2 order by position limit $3",
        after,
        upto,
        limit
    )
    .fetch_all(executor)
    .await?;
    Ok(events)
}

/// The last `limit` events of the log, by position.
///
/// # Errors
/// [`StoreError::Unavailable`] and the like.
pub async fn read_last(executor: impl PgExecutor<'_>, limit: i64) -> Result<Vec<StoredEvent>, StoreError> {
    let mut events = sqlx::query_as!(
        StoredEvent,
        "select position, aggregate_type, aggregate_id, sequence, event_type, event_version, payload, metadata, recorded_at, hash
        from events order by position desc limit $1",
        limit
    )
    .fetch_all(executor)
    .await?;
    events.reverse();
    Ok(events)
}

/// Events of one stream with `sequence > after`, in order; at most `limit`.
///
/// # Errors
/// [`StoreError::Unavailable`] and the like.
pub async fn read_stream(
    executor: impl PgExecutor<'_>,
    aggregate_type: &str,
    aggregate_id: &str,
    after: i64,
    limit: i64,
) -> Result<Vec<StoredEvent>, StoreError> {
    let events = sqlx::query_as!(
        StoredEvent,
        "select position, aggregate_type, aggregate_id, sequence, event_type, event_version, payload, metadata, recorded_at, hash
        from events where aggregate_type = $1 and aggregate_id = $2 and sequence > $3 order by sequence limit $4",
        aggregate_type,
        aggregate_id,
        after,
        limit
    )
    .fetch_all(executor)
    .await?;
    Ok(events)
}

/// The first `limit` events of one stream as today's code reads them, for those who show what happened.
///
/// # Errors
/// [`StoreError::Unavailable`] and the like; [`StoreError::Corrupt`] for an event that cannot be read.
pub async fn read_facts<A: Decide>(
    executor: impl PgExecutor<'_>,
    id: Uuid,
    limit: i64,
) -> Result<Vec<A::Event>, StoreError> {
    let decoder = Decoder::<A>::default();
    let stored = read_stream(executor, A::TYPE, &id.to_string(), 0, limit).await?;
    stored
        .iter()
        .map(|event| {
            decoder.decode(Stored {
                aggregate_id: &event.aggregate_id,
                sequence: event.sequence,
                event_type: &event.event_type,
                event_version: &event.event_version,
                payload: &event.payload.to_string(),
            })
        })
        .collect()
}
