//! A loaded stream: its rows, and the state they fold to.

use std::{any::Any, sync::OnceLock};

use domain::aggregate::Decide;
use uuid::Uuid;

use crate::{
    StoreError,
    codec::{Decoder, Stored, canonical},
    event_log::StreamRow,
    hash::{Envelope, GENESIS, Hash, link},
};

/// One aggregate's stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamId {
    /// `order`, `entitlement` or `delivery`.
    pub aggregate_type: &'static str,
    /// The aggregate's id.
    pub id: Uuid,
}

impl StreamId {
    /// The stream of an aggregate.
    pub fn of<A: Decide>(id: impl Into<Uuid>) -> Self {
        Self {
            aggregate_type: A::TYPE,
            id: id.into(),
        }
    }
}

impl std::fmt::Display for StreamId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.aggregate_type, self.id)
    }
}

/// A stream as it was loaded, moved on by what this unit of work decided.
#[derive(Debug)]
pub(super) struct Stream {
    pub(super) id: StreamId,
    /// The id as the column holds it.
    pub(super) text_id: String,
    rows: Vec<StreamRow>,
    /// Folded when first asked for: only then is the aggregate's type known.
    state: OnceLock<Box<dyn Any + Send + Sync>>,
    /// Last sequence, of stored and decided events.
    pub(super) sequence: i64,
    /// Link of the last event.
    pub(super) hash: Hash,
    /// Position of the last stored event.
    pub(super) position: Option<i64>,
}

impl Stream {
    pub(super) fn new(id: StreamId, text_id: String, rows: Vec<StreamRow>) -> Result<Self, StoreError> {
        let hash = last_link(id, &text_id, &rows)?;
        let last = rows.last();
        let (sequence, position) = (last.map_or(0, |row| row.sequence), last.map(|row| row.position));
        Ok(Self {
            id,
            text_id,
            rows,
            state: OnceLock::new(),
            sequence,
            hash,
            position,
        })
    }

    pub(super) fn state<A: Decide + 'static>(&self) -> Result<&A, StoreError> {
        if self.state.get().is_none() {
            // Losing a race to another fold of the same rows changes nothing.
            self.state.set(Box::new(self.fold::<A>()?)).ok();
        }
        self.state
            .get()
            .and_then(|state| state.downcast_ref())
            .ok_or_else(|| self.not_of_this_type())
    }

    pub(super) fn state_mut<A: Decide + 'static>(&mut self) -> Result<&mut A, StoreError> {
        self.state::<A>()?;
        let mistake = self.not_of_this_type();
        self.state
            .get_mut()
            .and_then(|state| state.downcast_mut())
            .ok_or(mistake)
    }

    /// The state itself, for readers that need nothing else.
    pub(super) fn into_state<A: Decide + 'static>(self) -> Result<A, StoreError> {
        self.fold()
    }

    fn fold<A: Decide>(&self) -> Result<A, StoreError> {
        let decoder = Decoder::<A>::default();
        let mut state = A::default();
        for row in &self.rows {
            state.apply(decoder.decode(Stored {
                aggregate_id: &self.text_id,
                sequence: row.sequence,
                event_type: &row.event_type,
                event_version: &row.event_version,
                payload: &row.payload.0,
            })?);
        }
        Ok(state)
    }

    fn not_of_this_type(&self) -> StoreError {
        StoreError::NotLoaded {
            stream: self.id.to_string(),
        }
    }
}

/// The link that the next event follows. Rows of foreign writers have none: they get the one they would have had.
fn last_link(id: StreamId, text_id: &str, rows: &[StreamRow]) -> Result<Hash, StoreError> {
    let foreign = rows.iter().rev().take_while(|row| row.hash.is_none()).count();
    let (linked, unlinked) = rows.split_at(rows.len().saturating_sub(foreign));
    let mut hash = match linked.last().and_then(|row| row.hash.as_deref()) {
        Some(stored) => Hash::try_from(stored)
            .map_err(|reason| StoreError::corrupt(format!("the hash at the end of {id}"), reason))?,
        None => GENESIS,
    };
    for row in unlinked {
        let place = || format!("{id}@{}", row.sequence);
        let parse = |text: &str| -> Result<String, StoreError> {
            let value: serde_json::Value =
                serde_json::from_str(text).map_err(|reason| StoreError::corrupt(place(), reason))?;
            canonical(&value)
        };
        let metadata = row
            .metadata
            .as_ref()
            .ok_or_else(|| StoreError::corrupt(place(), "metadata was not read"))?;
        hash = link(
            &hash,
            &Envelope {
                aggregate_type: id.aggregate_type,
                aggregate_id: text_id,
                sequence: row.sequence,
                event_type: &row.event_type,
                event_version: &row.event_version,
                payload: &parse(&row.payload.0)?,
                metadata: &parse(&metadata.0)?,
            },
        );
    }
    Ok(hash)
}
