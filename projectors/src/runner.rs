//! Following the log: fence, batch, project, checkpoint, commit.
//!
//! Events are read and decoded before the transaction is opened, so that its transaction id, which holds everybody's fence, lives for
//! milliseconds. Several processes may run the same projection: who takes the cursor's row does the batch, the others look again.

use std::{future::Future, time::Duration};

use riverqueue::database::begin_postgres;
use sqlx::PgPool;
use store::{Decoder, checkpoint, event_reader, high_water::Observer};
use tokio::{sync::watch, task::JoinSet, time::Instant};
use tokio_util::sync::CancellationToken;

use crate::{
    ProjectionError, Stop, batch::apply_in, deliveries::Deliveries, entitlements::Entitlements,
    operations_view::OperationsView, orders::Orders, projection::Projection,
};

/// Most events of one transaction.
const BATCH: i64 = 500;
/// Least time between two batches: what comes together is written together.
const GATHER: Duration = Duration::from_millis(8);
/// Least time between two moves of a cursor that no row moves with.
const IDLE_MOVE: Duration = Duration::from_millis(100);
/// Pause when another process has the cursor.
const YIELD: Duration = Duration::from_millis(50);
/// First and longest pause after a failure.
const RETRY: (Duration, Duration) = (Duration::from_millis(500), Duration::from_mins(1));

/// Runs the fence's observer and all projections of this process until `shutdown`.
///
/// # Errors
/// [`ProjectionError::Fence`] when the database is a standby or the session read-only. Every other failure is retried.
pub async fn run_all(pool: PgPool, shutdown: CancellationToken) -> Result<(), ProjectionError> {
    let (observer, settled) = Observer::new(pool.clone());
    let mut running = JoinSet::new();
    running.spawn(supervised::<Orders>(pool.clone(), settled.clone(), shutdown.clone()));
    running.spawn(supervised::<Entitlements>(
        pool.clone(),
        settled.clone(),
        shutdown.clone(),
    ));
    running.spawn(supervised::<OperationsView>(
        pool.clone(),
        settled.clone(),
        shutdown.clone(),
    ));
    running.spawn(supervised::<Deliveries>(pool, settled, shutdown.clone()));
    tokio::select! {
        ended = observer.run() => ended?,
        () = shutdown.cancelled() => {}
    }
    // Their transactions end by themselves; nothing is cut off.
    while running.join_next().await.is_some() {}
    Ok(())
}

/// Keeps one projection running: a panic outside the guarded code is a defect, but no reason to follow the log no more.
async fn supervised<P: Projection>(pool: PgPool, settled: watch::Receiver<i64>, shutdown: CancellationToken) {
    let mut one = JoinSet::new();
    while !shutdown.is_cancelled() {
        one.spawn(run::<P>(pool.clone(), settled.clone(), shutdown.clone()));
        match one.join_next().await {
            Some(Err(crash)) if crash.is_panic() => {
                tracing::error!(projection = P::NAME, "the projection crashed; starting it again");
                sleep_or(&shutdown, RETRY.1).await;
            }
            _ => return,
        }
    }
}

/// Follows the log with one projection until `shutdown`.
pub async fn run<P: Projection>(pool: PgPool, mut settled: watch::Receiver<i64>, shutdown: CancellationToken) {
    let mut follower = Follower::<P>::new(pool);
    let lag = metrics::gauge!("omniflow_projection_lag_events", "projection" => P::NAME);
    while !shutdown.is_cancelled() {
        let head = *settled.borrow_and_update();
        let step = follower.step(head).await;
        lag.set(to_float(head.saturating_sub(follower.cursor)));
        match follower.after(step) {
            Next::Wait => {
                tokio::select! {
                    moved = settled.changed() => {
                        if moved.is_err() {
                            return;
                        }
                        sleep_or(&shutdown, GATHER).await;
                    }
                    () = shutdown.cancelled() => return,
                }
            }
            Next::At(pause) => sleep_or(&shutdown, pause).await,
        }
    }
}

/// What one look led to.
#[derive(Debug, PartialEq, Eq)]
pub enum Step {
    /// The cursor is where the log is settled.
    Level,
    /// The cursor moved; there may be more.
    Moved,
    /// Somebody else has the cursor.
    Taken,
    /// Only the cursor would move, and it moved a moment ago.
    Soon(Duration),
}

enum Next {
    Wait,
    At(Duration),
}

/// One projection following the log.
#[derive(Debug)]
pub struct Follower<P: Projection> {
    pool: PgPool,
    decoder: Decoder<P::Aggregate>,
    cursor: i64,
    known: bool,
    batch: i64,
    moved_at: Option<Instant>,
    pause: Duration,
    stopped_at: Option<i64>,
}

impl<P: Projection> Follower<P> {
    /// A follower that does not know yet where it stands.
    pub fn new(pool: PgPool) -> Self {
        // A series that is there from the start: an alert on it has something to compare with.
        stopped_gauge::<P>(0.0);
        Self {
            pool,
            decoder: Decoder::default(),
            cursor: 0,
            known: false,
            batch: BATCH,
            moved_at: None,
            pause: RETRY.0,
            stopped_at: None,
        }
    }

    /// Where its cursor stood when it looked last.
    pub const fn cursor(&self) -> i64 {
        self.cursor
    }

    /// One batch, at most up to `head`, which the fence must have passed.
    ///
    /// # Errors
    /// [`ProjectionError::Stopped`] for an event that cannot be projected (everything before it is applied), or what the database says.
    pub async fn step(&mut self, head: i64) -> Result<Step, ProjectionError> {
        let step = self.look(head).await;
        if let Err(ProjectionError::Stopped(stop)) = &step {
            checkpoint::stop(&self.pool, P::NAME, stop.position, stop.code).await?;
        }
        step
    }

    async fn look(&mut self, head: i64) -> Result<Step, ProjectionError> {
        if !self.known {
            self.cursor = checkpoint::ensure(&self.pool, P::NAME).await?;
            self.known = true;
        }
        if self.cursor >= head {
            return Ok(Step::Level);
        }
        let mut connection = self.pool.acquire().await?;
        let page = event_reader::read_in(&mut connection, &self.decoder, self.cursor, head, self.batch).await?;
        drop(connection);
        let moved_lately = self.moved_at.and_then(|at| IDLE_MOVE.checked_sub(at.elapsed()));
        if let Some(wait) = moved_lately.filter(|_| page.is_empty()) {
            return Ok(Step::Soon(wait));
        }
        let through = page.through(head);
        let unreadable = page.unreadable.as_deref().map(Stop::from);
        self.apply(page.events, unreadable, through).await
    }

    async fn apply(
        &mut self,
        events: Vec<domain::log::Recorded<P::Event>>,
        unreadable: Option<Stop>,
        through: i64,
    ) -> Result<Step, ProjectionError> {
        let mut transaction = begin_postgres(&self.pool).await?;
        match checkpoint::take_in(&mut transaction, P::NAME).await? {
            Some(cursor) if cursor == self.cursor => {}
            found => {
                transaction.rollback().await?;
                // Somebody else moved it, has it, or removed it: look again.
                self.known = found.is_none() && checkpoint::position(&self.pool, P::NAME).await?.is_some();
                return Ok(Step::Taken);
            }
        }
        let applied = apply_in::<P>(&mut transaction, &events).await;
        let stop = match applied {
            Ok(unfit) => unfit.or(unreadable),
            Err(error) => return Err(self.narrow(&events, error)),
        };
        fail::fail_point!("projection.before_commit", |_| {
            Err(ProjectionError::Store(sqlx::Error::WorkerCrashed.into()))
        });
        let reached = stop.as_ref().map_or(through, |stop| stop.position.saturating_sub(1));
        if reached > self.cursor {
            checkpoint::advance_in(&mut transaction, P::NAME, reached).await?;
        }
        transaction.commit().await?;
        self.cursor = self.cursor.max(reached);
        self.moved_at = Some(Instant::now());
        self.batch = BATCH;
        stop.map_or(Ok(Step::Moved), |stop| Err(stop.into()))
    }

    /// A refusal of the data itself is narrowed down by halving until one event is left, which then is the one that stops the projection.
    fn narrow(&mut self, events: &[domain::log::Recorded<P::Event>], error: sqlx::Error) -> ProjectionError {
        if !refuses_data(&error) {
            return error.into();
        }
        if let [only] = events {
            return Stop {
                position: only.position,
                code: "projection_row_refused",
                detail: "the database refuses the row".to_owned(),
            }
            .into();
        }
        self.batch = i64::try_from(events.len() / 2).unwrap_or(1).max(1);
        error.into()
    }

    fn after(&mut self, step: Result<Step, ProjectionError>) -> Next {
        match step {
            Ok(step) => {
                self.pause = RETRY.0;
                if step == Step::Moved && self.stopped_at.take().is_some() {
                    tracing::info!(projection = P::NAME, position = self.cursor, "the projection goes on");
                    stopped_gauge::<P>(0.0);
                }
                match step {
                    Step::Level => Next::Wait,
                    Step::Moved => Next::At(Duration::ZERO),
                    Step::Taken => Next::At(YIELD),
                    Step::Soon(wait) => Next::At(wait),
                }
            }
            Err(ProjectionError::Stopped(at)) => {
                if self.stopped_at.replace(at.position) != Some(at.position) {
                    self.pause = RETRY.0;
                    stopped_gauge::<P>(1.0);
                }
                tracing::error!(
                    projection = P::NAME,
                    position = at.position,
                    code = at.code,
                    detail = at.detail,
                    "the projection is stopped by an event; nothing is skipped"
                );
                Next::At(self.double())
            }
            Err(error) => {
                tracing::warn!(projection = P::NAME, position = self.cursor, code = error.code(), %error, "trying again");
                // The halving of a refused batch goes on at once.
                Next::At(if self.batch < BATCH {
                    Duration::ZERO
                } else {
                    self.double()
                })
            }
        }
    }

    fn double(&mut self) -> Duration {
        let pause = self.pause;
        self.pause = (pause * 2).min(RETRY.1);
        pause
    }
}

/// SQLSTATE classes 22 and 23: the data is at fault, not the connection.
fn refuses_data(error: &sqlx::Error) -> bool {
    let code = error.as_database_error().and_then(sqlx::error::DatabaseError::code);
    code.is_some_and(|code| code.starts_with("22") || code.starts_with("23"))
}

fn stopped_gauge<P: Projection>(value: f64) {
    metrics::gauge!("omniflow_projection_stopped", "projection" => P::NAME).set(value);
}

fn sleep_or(shutdown: &CancellationToken, pause: Duration) -> impl Future<Output = ()> {
    let shutdown = shutdown.clone();
    async move {
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = shutdown.cancelled() => {}
        }
    }
}

/// Counts far below 2^53 are exact in a gauge.
fn to_float(count: i64) -> f64 {
    u32::try_from(count.max(0)).map_or(f64::from(u32::MAX), f64::from)
}
