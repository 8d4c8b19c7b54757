//! What both forms of a unit of work share: the loaded streams and the buffer. No I/O here.

use cqrs_es::DomainEvent as _;
use domain::{aggregate::Decide, log::Metadata};
use ports::trace::{self, TraceParent};
use serde::Serialize;
use uuid::Uuid;

use super::{
    buffer::{Buffer, EventRow, NewDelivery, NewOperation, OutboxRow},
    stream::Stream,
};
use crate::{
    StoreError,
    codec::canonical,
    hash::{Envelope, link},
    idempotency::{KeyedRequest, StoredAnswer},
};

/// Why a command was not executed.
#[derive(Debug, thiserror::Error)]
pub enum ExecuteError<E: std::error::Error + 'static> {
    /// The aggregate refused it; nothing was buffered.
    #[error(transparent)]
    Rejected(E),
    /// The stream could not be folded, or its events cannot be stored.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Loaded streams and what was decided on them.
#[derive(Debug)]
pub struct Work {
    pub(super) metadata: Metadata,
    /// Canonical, made once for all events.
    pub(super) metadata_text: String,
    pub(super) trace: Option<TraceParent>,
    pub(super) streams: Vec<Stream>,
    pub(super) buffer: Buffer,
}

impl Work {
    pub(super) fn new(metadata: Metadata, streams: Vec<Stream>) -> Result<Self, StoreError> {
        let trace = trace::current();
        Ok(Self {
            metadata_text: metadata_text(&metadata, trace)?,
            trace,
            metadata,
            streams,
            buffer: Buffer::default(),
        })
    }

    /// The state of a loaded stream, with the events decided so far.
    ///
    /// # Errors
    /// [`StoreError::NotLoaded`], [`StoreError::Corrupt`].
    pub fn state<A: Decide + 'static>(&self, id: impl Into<Uuid>) -> Result<&A, StoreError> {
        let id = id.into();
        match self
            .streams
            .iter()
            .find(|stream| stream.id.aggregate_type == A::TYPE && stream.id.id == id)
        {
            Some(stream) => stream.state(),
            None => Err(not_loaded::<A>(id)),
        }
    }

    /// Last sequence of a loaded stream, with the events decided so far; 0 where it has none.
    ///
    /// # Errors
    /// [`StoreError::NotLoaded`].
    pub fn sequence<A: Decide + 'static>(&self, id: impl Into<Uuid>) -> Result<i64, StoreError> {
        let id = id.into();
        let stream = self
            .streams
            .iter()
            .find(|stream| stream.id.aggregate_type == A::TYPE && stream.id.id == id);
        stream.map(|stream| stream.sequence).ok_or_else(|| not_loaded::<A>(id))
    }

    /// Highest position of the loaded streams.
    pub fn position(&self) -> Option<i64> {
        self.streams.iter().filter_map(|stream| stream.position).max()
    }

    /// Decides a command against the folded state, applies its events and buffers them with the outbox rows they announce
    /// (which see the state after the whole decision). Nothing is buffered when it fails.
    ///
    /// # Errors
    /// [`ExecuteError::Rejected`] with the aggregate's own error; [`ExecuteError::Store`].
    pub fn execute<A: Decide + 'static>(
        &mut self,
        id: impl Into<Uuid>,
        command: A::Command,
    ) -> Result<Vec<A::Event>, ExecuteError<A::Error>> {
        let id = id.into();
        let Self {
            metadata,
            metadata_text,
            trace: _,
            streams,
            buffer,
        } = self;
        let stream = streams
            .iter_mut()
            .find(|stream| stream.id.aggregate_type == A::TYPE && stream.id.id == id)
            .ok_or_else(|| not_loaded::<A>(id))?;
        let events = stream.state::<A>()?.decide(command).map_err(ExecuteError::Rejected)?;
        let rows = encode::<A>(stream, metadata_text, &events)?;

        let text_id = stream.text_id.clone();
        let state = stream.state_mut::<A>()?;
        for event in &events {
            state.apply(event.clone());
        }
        let mut outbox = Vec::new();
        for (event, row) in events.iter().zip(&rows) {
            let event_id = format!("{}:{text_id}:{}", A::TYPE, row.sequence);
            for message in state.announce(event, &event_id, metadata) {
                outbox.push(OutboxRow {
                    aggregate_type: A::TYPE,
                    aggregate_id: text_id.clone(),
                    sequence: row.sequence,
                    topic: message.topic(),
                    payload: canonical(&message)?,
                });
            }
        }
        if let Some(last) = rows.last() {
            (stream.sequence, stream.hash) = (last.sequence, last.hash);
        }
        buffer.events.extend(rows);
        buffer.outbox.extend(outbox);
        Ok(events)
    }

    /// A `fulfillment_operations` row, in the same statement.
    pub fn enqueue_operation(&mut self, row: NewOperation) {
        self.buffer.operations.push(row);
    }

    /// A `goods_deliveries` row, in the same statement.
    pub fn owe_delivery(&mut self, row: NewDelivery) {
        self.buffer.deliveries.push(row);
    }

    /// What a repetition of the request will be answered. Refusals of the domain are answers too.
    pub fn answer(&mut self, key: &KeyedRequest, answer: StoredAnswer) {
        self.buffer.answer = Some((key.clone(), answer));
    }
}

/// The stored form: what was said, and the trace it was said in. The trace is of the request, not of the try, so a rerun writes the same bytes.
fn metadata_text(metadata: &Metadata, trace: Option<TraceParent>) -> Result<String, StoreError> {
    #[derive(Serialize)]
    struct Traced<'a> {
        #[serde(flatten)]
        metadata: &'a Metadata,
        traceparent: String,
    }
    match trace {
        Some(trace) => canonical(&Traced {
            metadata,
            traceparent: trace.to_string(),
        }),
        None => canonical(metadata),
    }
}

/// The rows of a decision, each linked to the one before it.
fn encode<A: Decide>(stream: &Stream, metadata: &str, events: &[A::Event]) -> Result<Vec<EventRow>, StoreError> {
    let (mut sequence, mut hash) = (stream.sequence, stream.hash);
    let mut rows = Vec::with_capacity(events.len());
    for event in events {
        sequence = sequence.saturating_add(1);
        let (event_type, event_version) = (event.event_type(), event.event_version());
        let payload = canonical(event)?;
        hash = link(
            &hash,
            &Envelope {
                aggregate_type: A::TYPE,
                aggregate_id: &stream.text_id,
                sequence,
                event_type: &event_type,
                event_version: &event_version,
                payload: &payload,
                metadata,
            },
        );
        rows.push(EventRow {
            aggregate_type: A::TYPE,
            aggregate_id: stream.text_id.clone(),
            sequence,
            event_type,
            event_version,
            payload,
            hash,
        });
    }
    Ok(rows)
}

fn not_loaded<A: Decide>(id: Uuid) -> StoreError {
    StoreError::NotLoaded {
        stream: format!("{}/{id}", A::TYPE),
    }
}
