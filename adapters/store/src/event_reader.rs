//! Reading the log in position order, for those who follow it.

use domain::{aggregate::Decide, log::Recorded};
use sqlx::PgConnection;

use crate::{
    codec::{Decoder, Stored},
    error::StoreError,
};

/// One event as it lies in the log. Bodies stay text until somebody wants their meaning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Place in the whole log.
    pub position: i64,
    /// Kind of its stream.
    pub aggregate_type: String,
    /// Id of its stream.
    pub aggregate_id: String,
    /// Place in its stream, from 1.
    pub sequence: i64,
    /// As `order.paid`.
    pub event_type: String,
    /// Version of its shape.
    pub event_version: String,
    /// JSON.
    pub payload: String,
    /// JSON.
    pub metadata: String,
}

/// A stored event that today's code cannot read.
#[derive(Debug, thiserror::Error)]
#[error(
    "{event_type} version {event_version} at position {position}, sequence {sequence} of {aggregate_type} {aggregate_id}: {reason}"
)]
pub struct UnreadableEvent {
    /// Place in the whole log.
    pub position: i64,
    /// Kind of its stream.
    pub aggregate_type: String,
    /// Id of its stream.
    pub aggregate_id: String,
    /// Place in its stream.
    pub sequence: i64,
    /// As stored.
    pub event_type: String,
    /// As stored.
    pub event_version: String,
    /// What the decoder said; names fields, never shows values of a payload.
    pub reason: String,
}

/// Events of one kind of stream with `after < position <= through`, in position order, `limit` of them at most.
///
/// Only positions that the fence has passed may be asked for; others may still appear behind the reader's back.
///
/// # Errors
/// What the database says.
pub async fn read_in(
    connection: &mut PgConnection,
    aggregate_type: &str,
    after: i64,
    through: i64,
    limit: i64,
) -> Result<Vec<Entry>, StoreError> {
    let events = sqlx::query_as!(
        Entry,
        r#"select position, aggregate_type, aggregate_id, sequence, event_type, event_version,
                  payload::text as "payload!", metadata::text as "metadata!"
             from events where position > $2 and position <= $3 and aggregate_type = $1
            order by position limit $4"#,
        aggregate_type,
        after,
        through,
        limit
    )
    .fetch_all(connection)
    .await?;
    Ok(events)
}

/// Today's form of one event of aggregate `A`.
///
/// # Errors
/// [`UnreadableEvent`], naming type, version and place.
pub fn decode<A: Decide>(decoder: &Decoder<A>, entry: &Entry) -> Result<Recorded<A::Event>, Box<UnreadableEvent>> {
    let unreadable = |reason: String| {
        Box::new(UnreadableEvent {
            position: entry.position,
            aggregate_type: entry.aggregate_type.clone(),
            aggregate_id: entry.aggregate_id.clone(),
            sequence: entry.sequence,
            event_type: entry.event_type.clone(),
            event_version: entry.event_version.clone(),
            reason,
        })
    };
    let event = decoder
        .decode(Stored {
            aggregate_id: &entry.aggregate_id,
            sequence: entry.sequence,
            event_type: &entry.event_type,
            event_version: &entry.event_version,
            payload: &entry.payload,
        })
        .map_err(|error| unreadable(describe(&error)))?;
    let metadata = serde_json::from_str(&entry.metadata).map_err(|error| unreadable(json_place(&error)))?;
    Ok(Recorded {
        position: entry.position,
        aggregate_type: entry.aggregate_type.clone(),
        aggregate_id: entry.aggregate_id.clone(),
        sequence: entry.sequence,
        event,
        metadata,
    })
}

/// The kind and place of a decoding error. Its own text may quote values, and a payload's values belong in no log.
fn describe(error: &StoreError) -> String {
    match error {
        StoreError::Corrupt { reason, .. } => reason
            .downcast_ref::<serde_json::Error>()
            .map_or_else(|| error.code().to_owned(), json_place),
        other => other.code().to_owned(),
    }
}

fn json_place(error: &serde_json::Error) -> String {
    format!("{:?} error at column {}", error.classify(), error.column())
}
