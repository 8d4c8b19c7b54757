//! Recomputing the chain of a stream from what is stored.

use sqlx::PgPool;

use crate::{
    StoreError,
    codec::canonical,
    event_log::{StoredEvent, read_stream},
    hash::{Envelope, GENESIS, Hash, link},
};

/// Rows read at once.
const PAGE: i64 = 500;

/// What a stream's chain says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChainReport {
    /// Rows read.
    pub events: u64,
    /// Sequences of rows without a hash: written by somebody else than this product.
    pub foreign: Vec<i64>,
    /// Sequences whose stored hash is not the one that their content and their predecessor give.
    pub mismatched: Vec<i64>,
    /// Sequences that are missing.
    pub missing: Vec<i64>,
}

impl ChainReport {
    /// True where nothing was changed or taken away. Foreign rows are reported, not held against the stream.
    pub fn is_intact(&self) -> bool {
        self.mismatched.is_empty() && self.missing.is_empty()
    }
}

/// Follows a chain row by row.
#[derive(Debug)]
pub struct Chain {
    previous: Hash,
    sequence: i64,
    report: ChainReport,
}

impl Default for Chain {
    fn default() -> Self {
        Self {
            previous: GENESIS,
            sequence: 0,
            report: ChainReport::default(),
        }
    }
}

impl Chain {
    /// Takes the next row of the stream.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] when its JSON cannot be made canonical.
    pub fn push(&mut self, event: &StoredEvent) -> Result<(), StoreError> {
        let expected = self.sequence.saturating_add(1);
        if event.sequence > expected {
            self.report.missing.extend(expected..event.sequence);
        }
        let computed = link(
            &self.previous,
            &Envelope {
                aggregate_type: &event.aggregate_type,
                aggregate_id: &event.aggregate_id,
                sequence: event.sequence,
                event_type: &event.event_type,
                event_version: &event.event_version,
                payload: &canonical(&event.payload)?,
                metadata: &canonical(&event.metadata)?,
            },
        );
        // After a mismatch the chain goes on from what is stored, so that one edit is one finding.
        self.previous = match event.hash.as_deref().map(Hash::try_from) {
            None => {
                self.report.foreign.push(event.sequence);
                computed
            }
            Some(Ok(stored)) => {
                if stored != computed {
                    self.report.mismatched.push(event.sequence);
                }
                stored
            }
            Some(Err(_)) => {
                self.report.mismatched.push(event.sequence);
                computed
            }
        };
        self.sequence = event.sequence;
        self.report.events = self.report.events.saturating_add(1);
        Ok(())
    }

    /// What was found.
    pub fn finish(self) -> ChainReport {
        self.report
    }
}

/// Recomputes the chain of one stream.
///
/// # Errors
/// [`StoreError::Unavailable`] and the like; findings are in the report.
pub async fn verify_chain(pool: &PgPool, aggregate_type: &str, aggregate_id: &str) -> Result<ChainReport, StoreError> {
    let mut chain = Chain::default();
    loop {
        let page = read_stream(pool, aggregate_type, aggregate_id, chain.sequence, PAGE).await?;
        for event in &page {
            chain.push(event)?;
        }
        if i64::try_from(page.len()).unwrap_or(i64::MAX) < PAGE {
            return Ok(chain.finish());
        }
    }
}

/// The streams of the log after `after` (type, id), in that order; at most `limit`. For walking all of them.
///
/// # Errors
/// [`StoreError::Unavailable`] and the like.
pub async fn streams_after(
    pool: &PgPool,
    after: (&str, &str),
    limit: i64,
) -> Result<Vec<(String, String)>, StoreError> {
    let rows = sqlx::query!(
        "select distinct aggregate_type, aggregate_id from events where (aggregate_type, aggregate_id) > ($1, $2)
        order by aggregate_type, aggregate_id limit $3",
        after.0,
        after.1,
        limit
    )
    .fetch_all(pool)
    .await?;
    Ok(rows
        .into_iter()
        .map(|row| (row.aggregate_type, row.aggregate_id))
        .collect())
}
