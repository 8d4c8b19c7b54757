//! The growing side of a rebuild.

use sqlx::{Connection as _, PgConnection};
use store::{Decoder, checkpoint, event_reader};

use super::{OnProgress, Progress};
use crate::{ProjectionError, batch::apply_in, projection::Projection};

/// Events of one transaction: well under 100 ms, so that the fence of the others is not held.
pub(super) const BATCH: i64 = 2000;

/// A rebuild under way.
#[derive(Debug)]
pub(super) struct Rebuild<P: Projection> {
    decoder: Decoder<P::Aggregate>,
    position: i64,
    events: u64,
}

/// Name of the cursor of an unfinished rebuild; another version of the projection has another.
pub(super) fn cursor_name<P: Projection>() -> String {
    format!("rebuild:{}:v{}", P::NAME, P::VERSION)
}

impl<P: Projection> Rebuild<P> {
    /// Goes on with an unfinished rebuild of this version, or begins anew.
    pub(super) async fn open(connection: &mut PgConnection) -> Result<Self, ProjectionError> {
        let name = cursor_name::<P>();
        let mut transaction = connection.begin().await?;
        let exists: bool = sqlx::query_scalar(P::TABLE.rebuild_exists)
            .fetch_one(&mut *transaction)
            .await?;
        let cursor = checkpoint::position_in(&mut transaction, &name).await?;
        let position = match cursor {
            Some(position) if exists => position,
            _ => {
                sqlx::raw_sql(P::TABLE.drop_rebuild).execute(&mut *transaction).await?;
                sqlx::raw_sql(P::TABLE.create_rebuild)
                    .execute(&mut *transaction)
                    .await?;
                sqlx::query!(
                    "delete from projection_checkpoints where starts_with(name, 'rebuild:' || $1 || ':')",
                    P::NAME
                )
                .execute(&mut *transaction)
                .await?;
                checkpoint::advance_in(&mut transaction, &name, 0).await?;
                0
            }
        };
        transaction.commit().await?;
        Ok(Self {
            decoder: Decoder::default(),
            position,
            events: 0,
        })
    }

    pub(super) const fn position(&self) -> i64 {
        self.position
    }

    pub(super) const fn events(&self) -> u64 {
        self.events
    }

    pub(super) fn moved_to(&mut self, position: i64, events: usize) {
        self.position = self.position.max(position);
        self.events = self.events.saturating_add(u64::try_from(events).unwrap_or(u64::MAX));
    }

    pub(super) const fn decoder(&self) -> &Decoder<P::Aggregate> {
        &self.decoder
    }

    /// Applies everything up to `head`, a batch a transaction.
    pub(super) async fn reach(
        &mut self,
        connection: &mut PgConnection,
        head: i64,
        on_progress: OnProgress<'_>,
    ) -> Result<(), ProjectionError> {
        while self.position < head {
            let batch = Batch::read::<P>(connection, &self.decoder, self.position, head, BATCH).await?;
            let mut transaction = connection.begin().await?;
            sqlx::raw_sql("set local search_path = rebuild, public; set local synchronous_commit = off")
                .execute(&mut *transaction)
                .await?;
            let unfit = apply_in::<P>(&mut transaction, &batch.events).await?;
            if let Some(stop) = unfit.or(batch.stop) {
                return Err(stop.into());
            }
            checkpoint::advance_in(&mut transaction, &cursor_name::<P>(), batch.through).await?;
            transaction.commit().await?;
            self.moved_to(batch.through, batch.events.len());
            on_progress(Progress {
                projection: P::NAME,
                position: self.position,
                head,
            });
        }
        Ok(())
    }
}

/// Applies everything between two positions to the tables that the session's search path shows, a batch a transaction.
pub(crate) async fn catch_up<P: Projection>(
    connection: &mut PgConnection,
    head: i64,
    on_progress: OnProgress<'_>,
) -> Result<(), ProjectionError> {
    let decoder = Decoder::default();
    let mut position = 0;
    while position < head {
        let batch = Batch::read::<P>(connection, &decoder, position, head, BATCH).await?;
        let mut transaction = connection.begin().await?;
        let unfit = apply_in::<P>(&mut transaction, &batch.events).await?;
        if let Some(stop) = unfit.or(batch.stop) {
            return Err(stop.into());
        }
        transaction.commit().await?;
        position = batch.through;
        on_progress(Progress {
            projection: P::NAME,
            position,
            head,
        });
    }
    Ok(())
}

/// Decoded events and the position that is reached with them.
pub(super) struct Batch<E> {
    pub(super) events: Vec<domain::log::Recorded<E>>,
    pub(super) stop: Option<crate::Stop>,
    pub(super) through: i64,
}

impl<E> Batch<E> {
    pub(super) async fn read<P: Projection<Event = E>>(
        connection: &mut PgConnection,
        decoder: &Decoder<P::Aggregate>,
        after: i64,
        head: i64,
        limit: i64,
    ) -> Result<Self, ProjectionError> {
        let page = event_reader::read_in(connection, decoder, after, head, limit).await?;
        Ok(Self {
            through: page.through(head),
            stop: page.unreadable.as_deref().map(crate::Stop::from),
            events: page.events,
        })
    }
}
