//! Streams that a failing row blocks: only they wait, and they are drained in order once the row can be handed over.

use sqlx::PgConnection;
use store::outbox;

use super::{
    PublisherError,
    hand_over::{Bad, Ready, hand_over},
    holder::Holder,
    reactor::Reactors,
};

/// Streams tried in one go, so that the others never wait long.
const STREAMS: i64 = 20;
/// Rows of one stream handed over by one statement.
const ROWS: i64 = 200;

/// Writes down what is blocked and parks what waits behind it.
pub(super) async fn block(connection: &mut PgConnection, bad: &[Bad], behind: &[i64]) -> Result<(), sqlx::Error> {
    for Bad { row, refused } in bad {
        tracing::error!(
            row = row.id,
            topic = row.topic,
            stream = row.stream,
            code = refused.code,
            detail = refused.detail,
            "an outbox row cannot be handed over; its stream waits"
        );
        metrics::counter!("omniflow_outbox_failures_total", "code" => refused.code).increment(1);
        outbox::block_in(connection, row, refused.code, Some(&refused.detail)).await?;
    }
    if !behind.is_empty() {
        outbox::park_in(connection, behind).await?;
    }
    Ok(())
}

/// Tries the streams that are due. Answers those that are free again.
pub(super) async fn drain(holder: &mut Holder, reactors: &Reactors) -> Result<Vec<String>, PublisherError> {
    let mut freed = Vec::new();
    for stream in outbox::due_streams_in(holder.connection(), STREAMS).await? {
        if drain_one(holder, reactors, &stream).await? {
            tracing::info!(stream, "the stream is no longer blocked");
            freed.push(stream);
        }
    }
    Ok(freed)
}

async fn drain_one(holder: &mut Holder, reactors: &Reactors, stream: &str) -> Result<bool, PublisherError> {
    loop {
        let rows = outbox::parked_in(holder.connection(), stream, ROWS).await?;
        if rows.is_empty() {
            return Ok(outbox::unblock_in(holder.connection(), stream).await?);
        }
        let mut ready = Vec::with_capacity(rows.len());
        let mut first_bad = None;
        for row in rows {
            holder.is_mine(row.backend)?;
            match reactors.react(&row) {
                Ok(effects) => ready.push(Ready { row, effects }),
                Err(refused) => {
                    first_bad = Some(Bad { row, refused });
                    break;
                }
            }
        }
        let done = hand_over(holder, ready).await?;
        let bad = if done.bad.is_empty() {
            first_bad.into_iter().collect()
        } else {
            done.bad
        };
        if !bad.is_empty() {
            block(holder.connection(), &bad, &[]).await?;
            return Ok(false);
        }
    }
}
