//! The fence: up to which position the log is settled, so that a plain integer can follow it.
//!
//! Positions are handed out before commit: a smaller one may appear later than a larger one, or never. The reader notes P, the last position
//! handed out, *then* draws X, a transaction id of its own, and waits until no transaction older than X is running. Every writer draws its
//! transaction id before its position (column order of `events`), so whoever holds a position ≤ P is older than X and has ended by then.
//! The snapshot's xmax must never stand in for X: it is the last *completed* id + 1, and an open transaction may be above it.

use std::{collections::VecDeque, time::Duration};

use sqlx::{PgConnection, PgPool};
use tokio::{sync::watch, time::Instant};

use crate::error::StoreError;

/// Pause between two looks while something waits to be settled.
const BUSY_POLL: Duration = Duration::from_millis(5);
/// Longest pause between two looks at an idle log.
const IDLE_POLL: Duration = Duration::from_millis(40);
/// Pause after a failure of the database.
const RETRY: Duration = Duration::from_millis(500);

/// Why nothing can be observed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FenceError {
    /// A standby, or a session that may not write: drawing a transaction id is refused there, and nothing else proves that a position is settled.
    #[error("the log can be followed only on a primary and in a read-write session")]
    ReadOnly,
    /// The log did not settle in the time given: some transaction in the cluster stays open.
    #[error(
        "a transaction that is still open holds the log at position {settled}; position {wanted} was not settled in time"
    )]
    NotSettled {
        /// What is settled.
        settled: i64,
        /// What had been handed out when the wait began.
        wanted: i64,
    },
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<sqlx::Error> for FenceError {
    fn from(error: sqlx::Error) -> Self {
        Self::Store(error.into())
    }
}

impl FenceError {
    /// Stable machine value.
    pub fn code(&self) -> &'static str {
        match self {
            Self::ReadOnly => "fence_read_only",
            Self::NotSettled { .. } => "fence_not_settled",
            Self::Store(error) => error.code(),
        }
    }
}

/// Values that wait to be settled, each with a transaction id drawn after it was seen.
#[derive(Debug, Default)]
pub struct Horizon {
    waiting: VecDeque<Noted>,
    newest: i64,
}

#[derive(Debug)]
struct Noted {
    value: i64,
    xid: i64,
    at: Instant,
}

impl Horizon {
    /// Whether a value is newer than everything noted so far; only then is an id worth drawing.
    pub fn is_news(&self, value: i64) -> bool {
        value > self.newest
    }

    /// Notes `value`, which was seen before `xid` was drawn.
    pub fn note(&mut self, value: i64, xid: i64) {
        self.newest = self.newest.max(value);
        self.waiting.push_back(Noted {
            value,
            xid,
            at: Instant::now(),
        });
    }

    /// The largest value that is settled now that nothing older than `xmin` runs, with the time it had to wait.
    pub fn pass(&mut self, xmin: i64) -> Option<(i64, Duration)> {
        let mut passed = None;
        while let Some(noted) = self.waiting.pop_front_if(|noted| xmin > noted.xid) {
            passed = Some((noted.value, noted.at.elapsed()));
        }
        passed
    }

    /// How long the oldest value has been waiting; zero when none is.
    pub fn lag(&self) -> Duration {
        self.waiting.front().map_or(Duration::ZERO, |noted| noted.at.elapsed())
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }
}

/// Last position handed out, committed or not; 0 while none was.
///
/// # Errors
/// What the database says.
pub async fn last_position(connection: &mut PgConnection) -> Result<i64, sqlx::Error> {
    // A sequence that was never used says `last_value = 1, is_called = false`.
    sqlx::query_scalar!(
        r#"select case when is_called then last_value else 0 end as "position!" from events_position_seq"#
    )
    .fetch_one(connection)
    .await
}

/// Draws a transaction id of this session's own; the statement is its whole transaction.
///
/// # Errors
/// What the database says; a standby refuses.
pub async fn draw_xid(connection: &mut PgConnection) -> Result<i64, sqlx::Error> {
    sqlx::query_scalar!(r#"select pg_current_xact_id()::text::bigint as "xid!""#)
        .fetch_one(connection)
        .await
}

/// The oldest transaction id that is still running, anywhere in the cluster.
///
/// # Errors
/// What the database says.
pub async fn oldest_running(connection: &mut PgConnection) -> Result<i64, sqlx::Error> {
    sqlx::query_scalar!(r#"select pg_snapshot_xmin(pg_current_snapshot())::text::bigint as "xmin!""#)
        .fetch_one(connection)
        .await
}

/// Refuses a session that cannot draw transaction ids.
///
/// # Errors
/// [`FenceError::ReadOnly`] on a standby or in a read-only session.
pub async fn require_primary(connection: &mut PgConnection) -> Result<(), FenceError> {
    let read_only = sqlx::query_scalar!(
        r#"select (pg_is_in_recovery() or current_setting('transaction_read_only')::boolean) as "read_only!""#
    )
    .fetch_one(connection)
    .await?;
    if read_only { Err(FenceError::ReadOnly) } else { Ok(()) }
}

/// Follows the log's end for one reader: three statements, each with a snapshot of its own, in this order.
#[derive(Debug, Default)]
pub struct Fence {
    horizon: Horizon,
    settled: i64,
}

impl Fence {
    /// One look. Answers the position up to which every event is committed or gone for good.
    ///
    /// # Errors
    /// What the database says.
    pub async fn look(&mut self, connection: &mut PgConnection) -> Result<i64, sqlx::Error> {
        let position = last_position(connection).await?;
        if self.horizon.is_news(position) {
            // Strictly after P was read: in one statement the snapshot would be older than the sequence's value.
            let xid = draw_xid(connection).await?;
            self.horizon.note(position, xid);
        }
        if !self.horizon.is_empty() {
            let xmin = oldest_running(connection).await?;
            if let Some((position, waited)) = self.horizon.pass(xmin) {
                self.settled = self.settled.max(position);
                tracing::trace!(position, ?waited, "settled");
            }
        }
        Ok(self.settled)
    }

    /// How long the oldest unsettled position has been waiting.
    pub fn lag(&self) -> Duration {
        self.horizon.lag()
    }

    /// Whether every position seen is settled.
    pub fn is_idle(&self) -> bool {
        self.horizon.is_empty()
    }
}

/// Waits until everything handed out before the call is settled, and answers that position or a later one.
///
/// # Errors
/// [`FenceError::NotSettled`] when a transaction stays open for longer than `patience`.
pub async fn settle(connection: &mut PgConnection, patience: Duration) -> Result<i64, FenceError> {
    require_primary(connection).await?;
    let wanted = last_position(connection).await?;
    let deadline = Instant::now() + patience;
    let mut fence = Fence::default();
    loop {
        let settled = fence.look(connection).await?;
        if settled >= wanted {
            return Ok(settled);
        }
        if Instant::now() >= deadline {
            return Err(FenceError::NotSettled { settled, wanted });
        }
        tokio::time::sleep(BUSY_POLL).await;
    }
}

/// The one observer of a process; every projection of it waits on the same channel.
#[derive(Debug)]
pub struct Observer {
    pool: PgPool,
    settled: watch::Sender<i64>,
}

impl Observer {
    /// An observer and the channel on which it says how far the log is settled.
    pub fn new(pool: PgPool) -> (Self, watch::Receiver<i64>) {
        let (settled, receiver) = watch::channel(0);
        (Self { pool, settled }, receiver)
    }

    /// Observes until nobody listens any more. A database that is away is tried again; only a session that may not write ends it.
    ///
    /// # Errors
    /// [`FenceError::ReadOnly`].
    pub async fn run(self) -> Result<(), FenceError> {
        loop {
            match self.observe().await {
                Ok(()) => return Ok(()),
                Err(FenceError::ReadOnly) => return Err(FenceError::ReadOnly),
                Err(error) => {
                    tracing::warn!(code = error.code(), %error, "the log's end cannot be observed; trying again");
                }
            }
            tokio::select! {
                () = tokio::time::sleep(RETRY) => {}
                () = self.settled.closed() => return Ok(()),
            }
        }
    }

    async fn observe(&self) -> Result<(), FenceError> {
        let mut connection = self.pool.acquire().await?;
        require_primary(&mut connection).await?;
        let lag = metrics::gauge!("omniflow_fence_lag_seconds");
        let mut fence = Fence::default();
        let mut pause = BUSY_POLL;
        loop {
            let settled = fence.look(&mut connection).await?;
            lag.set(fence.lag().as_secs_f64());
            let moved = self.settled.send_if_modified(|known| {
                let moves = settled > *known;
                *known = settled.max(*known);
                moves
            });
            pause = if moved || !fence.is_idle() {
                BUSY_POLL
            } else {
                (pause * 2).min(IDLE_POLL)
            };
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = self.settled.closed() => return Ok(()),
            }
        }
    }
}
