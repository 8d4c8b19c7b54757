//! Reading the log in position order, for those who follow it.

use domain::{aggregate::Decide, log::Recorded};
use futures_util::TryStreamExt as _;
use sqlx::PgConnection;

use crate::{
    codec::{Decoder, JsonText, Stored},
    error::StoreError,
};

/// One event as it lies in the log, without what travels beside it: those who follow the log need ids and facts only.
struct Entry {
    position: i64,
    aggregate_id: String,
    sequence: i64,
    event_type: String,
    event_version: String,
    payload: JsonText,
}

/// A stretch of the log, of one kind of stream.
#[derive(Debug)]
pub struct Page<E> {
    /// In position order, up to the first that cannot be read.
    pub events: Vec<Recorded<E>>,
    /// The first event that today's code cannot read.
    pub unreadable: Option<Box<UnreadableEvent>>,
    /// Position of the last event met; `None` where there was none.
    pub last: Option<i64>,
    /// As many events were met as were asked for: there may be more.
    pub full: bool,
}

impl<E> Page<E> {
    /// The position that is reached with this page, where `head` was asked for.
    pub fn through(&self, head: i64) -> i64 {
        self.last.filter(|_| self.full).unwrap_or(head)
    }

    /// Nothing was met.
    pub const fn is_empty(&self) -> bool {
        self.last.is_none()
    }
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

/// Events of aggregate `A` with `after < position <= through`, in position order and today's form, `limit` of them at most. They are decoded as
/// they arrive, while the server reads on.
///
/// Only positions that the fence has passed may be asked for; others may still appear behind the reader's back.
///
/// # Errors
/// What the database says. An event that cannot be read is part of the answer.
pub async fn read_in<A: Decide>(
    connection: &mut PgConnection,
    decoder: &Decoder<A>,
    after: i64,
    through: i64,
    limit: i64,
) -> Result<Page<A::Event>, StoreError> {
    let mut page = Page {
        events: Vec::new(),
        unreadable: None,
        last: None,
        full: false,
    };
    let mut met = 0_i64;
    let mut entries = sqlx::query_as!(
        Entry,
        r#"select position, aggregate_id, sequence, event_type, event_version, payload as "payload: JsonText"
             from events where position > $2 and position <= $3 and aggregate_type = $1
            order by position limit $4"#,
        A::TYPE,
        after,
        through,
        limit
    )
    .fetch(connection);
    while let Some(entry) = entries.try_next().await? {
        met = met.saturating_add(1);
        page.last = Some(entry.position);
        // What comes after one that cannot be read is counted, not read: the reader will stop there.
        if page.unreadable.is_none() {
            match decode(decoder, entry) {
                Ok(event) => page.events.push(event),
                Err(unreadable) => page.unreadable = Some(unreadable),
            }
        }
    }
    page.full = met >= limit;
    Ok(page)
}

fn decode<A: Decide>(decoder: &Decoder<A>, entry: Entry) -> Result<Recorded<A::Event>, Box<UnreadableEvent>> {
    let read = decoder.decode(Stored {
        aggregate_id: &entry.aggregate_id,
        sequence: entry.sequence,
        event_type: &entry.event_type,
        event_version: &entry.event_version,
        payload: &entry.payload.0,
    });
    let Entry {
        position,
        aggregate_id,
        sequence,
        event_type,
        event_version,
        payload: _,
    } = entry;
    match read {
        Ok(event) => Ok(Recorded {
            position,
            aggregate_id,
            sequence,
            event,
        }),
        Err(error) => Err(Box::new(UnreadableEvent {
            position,
            aggregate_type: A::TYPE.to_owned(),
            aggregate_id,
            sequence,
            event_type,
            event_version,
            reason: describe(&error),
        })),
    }
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
