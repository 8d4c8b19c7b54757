//! Where units of work come from.

use std::sync::Arc;

use domain::{aggregate::Decide, log::Metadata};
use sqlx::PgPool;
use uuid::Uuid;

use super::{
    Committed,
    forms::UnitOfWork,
    stream::{Stream, StreamId},
    work::Work,
};
use crate::{
    Hinter, StoreError,
    codec::JsonText,
    connection::Checkout,
    event_log::{Found, MOST_STREAMS, StreamRow, Wanted, load},
    idempotency::{KeyedRequest, StoredAnswer},
    warm::Warm,
};

/// The event store of one process. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Store {
    connections: Arc<Warm>,
    hinter: Option<Hinter>,
}

/// What a keyed load found.
#[expect(clippy::large_enum_variant, reason = "the large one is the usual one")]
#[derive(Debug)]
pub enum Loaded {
    /// The key is new: decide.
    Fresh(UnitOfWork),
    /// The request was answered before: repeat the answer.
    Answered(StoredAnswer),
    /// The key was used with another request.
    KeyReused,
    /// A run that calls a provider holds the key.
    InProgress,
}

/// One aggregate as its stream tells it now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folded<A> {
    /// The state; the default one where there is no event.
    pub state: A,
    /// Last sequence; 0 where there is no event.
    pub sequence: i64,
    /// Position of the last event.
    pub position: Option<i64>,
}

impl Store {
    /// On a pool made by [`crate::command_pool`].
    pub fn new(pool: PgPool) -> Self {
        Self {
            connections: Warm::new(pool),
            hinter: None,
        }
    }

    /// Tells the publisher after commits that wrote outbox rows.
    #[must_use]
    pub fn with_hinter(self, hinter: Hinter) -> Self {
        Self {
            hinter: Some(hinter),
            ..self
        }
    }

    /// The pool behind it.
    pub fn pool(&self) -> &PgPool {
        self.connections.pool()
    }

    /// Loads up to three streams by one query.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] after one retry on a fresh connection; [`StoreError::NotLoaded`] for more than three streams.
    pub async fn load(&self, streams: &[StreamId], metadata: Metadata) -> Result<UnitOfWork, StoreError> {
        let (connection, found) = self.query(None, streams).await?;
        self.unit_of_work(connection, streams, found, metadata)
    }

    /// Loads up to three streams and looks the key up, by one query.
    ///
    /// # Errors
    /// As [`Self::load`].
    pub async fn load_keyed(
        &self,
        key: &KeyedRequest,
        streams: &[StreamId],
        metadata: Metadata,
    ) -> Result<Loaded, StoreError> {
        let (connection, mut found) = self.query(Some(key), streams).await?;
        if let Some(row) = found.key.take() {
            if row.hash.as_deref() != Some(key.fingerprint.as_slice()) {
                return Ok(Loaded::KeyReused);
            }
            if row.sequence != 0 {
                return answered(&row).map(Loaded::Answered);
            }
            if row.event_version == "claimed" {
                return Ok(Loaded::InProgress);
            }
            // A claim whose time is over: whoever held it is gone.
        }
        Ok(Loaded::Fresh(self.unit_of_work(connection, streams, found, metadata)?))
    }

    /// Folds one stream, for reading.
    ///
    /// # Errors
    /// As [`Self::load`], and [`StoreError::Corrupt`].
    pub async fn fold<A: Decide + 'static>(&self, id: impl Into<Uuid> + Send) -> Result<Folded<A>, StoreError> {
        let id = StreamId::of::<A>(id);
        let (connection, mut found) = self.query(None, &[id]).await?;
        drop(connection);
        let stream = Stream::new(id, id.id.to_string(), found.streams.pop().unwrap_or_default())?;
        Ok(Folded {
            sequence: stream.sequence,
            position: stream.position,
            state: stream.into_state()?,
        })
    }

    pub(super) fn committed(&self, work: &Work, written: Option<i64>) -> Committed {
        let announced = !work.buffer.outbox.is_empty();
        if let (true, Some(hinter)) = (announced, &self.hinter) {
            hinter.hint();
        }
        Committed {
            position: written.or_else(|| work.position()),
            hinted: announced && self.hinter.is_some(),
        }
    }

    /// A connection lost at load has done nothing: once more on one that is known to answer.
    async fn query(&self, key: Option<&KeyedRequest>, streams: &[StreamId]) -> Result<(Checkout, Found), StoreError> {
        if let Some(beyond) = streams.get(MOST_STREAMS) {
            return Err(StoreError::NotLoaded {
                stream: beyond.to_string(),
            });
        }
        let ids: Vec<String> = streams.iter().map(|stream| stream.id.to_string()).collect();
        let wanted: Vec<Wanted<'_>> = streams
            .iter()
            .zip(&ids)
            .map(|(stream, id)| Wanted {
                aggregate_type: stream.aggregate_type,
                aggregate_id: id,
                after: 0,
            })
            .collect();
        let first = match Checkout::acquire(&self.connections).await {
            Ok(connection) => query_on(connection, key, &wanted).await,
            Err(error) => Err(error),
        };
        let (connection, rows) = match first {
            Ok(loaded) => loaded,
            Err(error) if crate::error::is_lost(&error) => {
                query_on(Checkout::acquire_tested(&self.connections).await?, key, &wanted).await?
            }
            Err(error) => return Err(error.into()),
        };
        Ok((connection, Found::sort(rows, streams.len())))
    }

    fn unit_of_work(
        &self,
        connection: Checkout,
        streams: &[StreamId],
        found: Found,
        metadata: Metadata,
    ) -> Result<UnitOfWork, StoreError> {
        let streams = streams
            .iter()
            .zip(found.streams)
            .map(|(id, rows)| Stream::new(*id, id.id.to_string(), rows))
            .collect::<Result<_, _>>()?;
        Ok(UnitOfWork::new(self.clone(), connection, Work::new(metadata, streams)?))
    }
}

async fn query_on(
    mut connection: Checkout,
    key: Option<&KeyedRequest>,
    wanted: &[Wanted<'_>],
) -> Result<(Checkout, Vec<StreamRow>), sqlx::Error> {
    let outcome = load(connection.unsettled()?, key, wanted).await;
    connection.settle(&outcome);
    Ok((connection, outcome?))
}

fn answered(row: &StreamRow) -> Result<StoredAnswer, StoreError> {
    let place = "idempotency_keys";
    let JsonText(body) = &row.payload;
    Ok(StoredAnswer {
        status: u16::try_from(row.sequence).map_err(|reason| StoreError::corrupt(place, reason))?,
        body: serde_json::from_str(body).map_err(|reason| StoreError::corrupt(place, reason))?,
    })
}
