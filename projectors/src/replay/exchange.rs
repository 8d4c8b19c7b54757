//! The last step of a rebuild: apply the rest under the live cursor's lock and exchange the tables.

use std::time::{Duration, Instant};

use sqlx::{Connection as _, PgConnection};
use store::{StoreError, checkpoint};

use super::{
    OnProgress, Progress,
    build::{BATCH, Batch, Rebuild, cursor_name},
};
use crate::{ProjectionError, batch::apply_in, error::sqlstate, projection::Projection};

/// How long the rest may take under the lock before it is let go of and caught up outside.
const UNDER_LOCK: Duration = Duration::from_millis(100);
/// How often the exchange is tried before an operator is told.
const TRIES: u32 = 60;
/// First and longest pause between two tries.
const PAUSE: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(1));

/// What came of one try.
enum Try {
    Done,
    /// The log moved too far meanwhile.
    Behind,
    /// A reader or the live projection did not let go in time.
    Locked,
}

/// Exchanges the tables. `false`: too much came meanwhile; catch up outside and try again.
pub(super) async fn exchange<P: Projection>(
    rebuild: &mut Rebuild<P>,
    connection: &mut PgConnection,
    head: i64,
    on_progress: OnProgress<'_>,
) -> Result<bool, ProjectionError> {
    let mut pause = PAUSE.0;
    for _ in 0..TRIES {
        match attempt(rebuild, connection).await? {
            Try::Done => {
                on_progress(Progress {
                    projection: P::NAME,
                    position: rebuild.position(),
                    head: head.max(rebuild.position()),
                });
                return Ok(true);
            }
            Try::Behind => return Ok(false),
            Try::Locked => {
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(PAUSE.1);
            }
        }
    }
    Err(ProjectionError::NotExchanged {
        position: rebuild.position(),
    })
}

async fn attempt<P: Projection>(
    rebuild: &mut Rebuild<P>,
    connection: &mut PgConnection,
) -> Result<Try, ProjectionError> {
    let mut transaction = connection.begin().await?;
    match within(rebuild, &mut transaction).await {
        Ok(Some((position, events))) => {
            fail::fail_point!("rebuild.before_exchange_commit", |_| {
                Err(ProjectionError::Store(sqlx::Error::WorkerCrashed.into()))
            });
            transaction.commit().await?;
            rebuild.moved_to(position, events);
            Ok(Try::Done)
        }
        Ok(None) => {
            transaction.rollback().await?;
            Ok(Try::Behind)
        }
        Err(ProjectionError::Store(error)) if is_lock_timeout(&error) => {
            transaction.rollback().await?;
            Ok(Try::Locked)
        }
        Err(error) => Err(error),
    }
}

/// The statements of the exchange. `None`: not within the time that the live projection may be held up.
async fn within<P: Projection>(
    rebuild: &Rebuild<P>,
    connection: &mut PgConnection,
) -> Result<Option<(i64, usize)>, ProjectionError> {
    sqlx::raw_sql("set local lock_timeout = '200ms'; set local search_path = rebuild, public")
        .execute(&mut *connection)
        .await?;
    let live = checkpoint::wait_and_take_in(connection, P::NAME).await?.unwrap_or(0);
    let taken = Instant::now();
    let mut position = rebuild.position();
    let mut events = 0;
    // What the live cursor has passed is settled, and while its row is held nobody moves it on.
    while position < live {
        let batch = Batch::read::<P>(connection, rebuild.decoder(), position, live, BATCH).await?;
        let unfit = apply_in::<P>(connection, &batch.events).await?;
        if let Some(stop) = unfit.or(batch.stop) {
            return Err(stop.into());
        }
        position = batch.through;
        events += batch.events.len();
        if position < live && taken.elapsed() > UNDER_LOCK {
            return Ok(None);
        }
    }
    sqlx::raw_sql(P::TABLE.drop_old).execute(&mut *connection).await?;
    sqlx::raw_sql(P::TABLE.retire).execute(&mut *connection).await?;
    sqlx::raw_sql(P::TABLE.promote).execute(&mut *connection).await?;
    checkpoint::advance_in(connection, P::NAME, position).await?;
    checkpoint::forget_in(connection, &cursor_name::<P>()).await?;
    Ok(Some((position, events)))
}

/// 55P03, and 40P01: the pair of locks taken here may meet somebody who takes them the other way round.
fn is_lock_timeout(error: &StoreError) -> bool {
    matches!(error, StoreError::Conflict) || sqlstate(error).is_some_and(|code| code == "55P03")
}
