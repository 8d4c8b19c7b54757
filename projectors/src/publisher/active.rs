//! The work of the one active publisher.

use std::{
    collections::HashSet,
    time::{Duration, Instant},
};

use store::{StoreError, outbox};
use tokio_util::sync::CancellationToken;

use crate::error::sqlstate;

use super::{
    PublisherError,
    blocked::{block, drain},
    floor::Floor,
    hand_over::{Bad, HandedOver, Ready, hand_over},
    hint::Hint,
    holder::Holder,
    reactor::Reactors,
    spans::spans,
};

/// Most rows of one statement.
const BATCH: i64 = 500;
/// Pause between two polls, first and longest: without hints, the longest is the worst wait after a quiet time.
const POLL: (Duration, Duration) = (Duration::from_millis(20), Duration::from_millis(160));
/// Pause after a batch whatever is hinted: under load, what comes within it goes over together, which costs two cores less than a batch each.
const GATHER: Duration = Duration::from_millis(5);
/// How often everything from the beginning is looked at.
const SWEEP: Duration = Duration::from_secs(1);
/// How often blocked streams are looked at.
const DRAIN: Duration = Duration::from_millis(250);
/// How often the backlog is counted.
const COUNT: Duration = Duration::from_secs(1);
/// First and longest pause after a refused statement. The longest is below the session's idle limit.
const BACK_OFF: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(2));

/// A publisher that holds the lock.
pub(super) struct Active<'a> {
    holder: Holder,
    reactors: &'a Reactors,
    hint: Hint,
    floor: Floor,
    blocked: HashSet<String>,
    sweep: Every,
    drain: Every,
    count: Every,
}

impl<'a> Active<'a> {
    pub(super) async fn start(mut holder: Holder, reactors: &'a Reactors, hint: Hint) -> Result<Self, PublisherError> {
        outbox::adopt_parked_in(holder.connection()).await?;
        metrics::gauge!("omniflow_outbox_publisher_active").set(1);
        Ok(Self {
            holder,
            reactors,
            hint,
            floor: Floor::default(),
            blocked: HashSet::new(),
            sweep: Every::new(SWEEP),
            drain: Every::new(DRAIN),
            count: Every::new(COUNT),
        })
    }

    /// Publishes until the session breaks or `shutdown`. A batch under way is finished.
    pub(super) async fn run(mut self, shutdown: &CancellationToken) -> Result<(), PublisherError> {
        let mut pause = POLL.0;
        let mut back_off = BACK_OFF.0;
        while !shutdown.is_cancelled() {
            let mut gather = Duration::ZERO;
            let wait = match self.turn().await {
                Ok(rows) => {
                    back_off = BACK_OFF.0;
                    if rows >= BATCH {
                        continue;
                    }
                    if rows > 0 {
                        gather = GATHER;
                    }
                    pause = if rows > 0 { POLL.0 } else { (pause * 2).min(POLL.1) };
                    pause
                }
                Err(PublisherError::Store(error)) if is_passing(&error) => {
                    tracing::warn!(code = error.code(), %error, "a batch was refused; trying again");
                    back_off = (back_off * 2).min(BACK_OFF.1);
                    back_off
                }
                Err(error) => return Err(error),
            };
            let next = async {
                tokio::time::sleep(gather).await;
                self.hint.wait(wait).await
            };
            tokio::select! {
                hinted = next => if hinted { pause = POLL.0 },
                () = shutdown.cancelled() => {}
            }
        }
        self.holder.close().await;
        Ok(())
    }

    /// What is due now, then one batch. Answers how many rows were met.
    async fn turn(&mut self) -> Result<i64, PublisherError> {
        if self.drain.is_due() {
            drain(&mut self.holder, self.reactors).await?;
            self.blocked = outbox::blocked_streams_in(self.holder.connection())
                .await?
                .into_iter()
                .collect();
        }
        if self.count.is_due() {
            set_gauges(&outbox::backlog_in(self.holder.connection()).await?);
        }
        let sweeping = self.sweep.is_due();
        let settled = self.floor.advance(self.holder.connection()).await?;
        let from = if sweeping { 0 } else { self.floor.get() };
        let rows = outbox::pending_in(self.holder.connection(), from, BATCH).await?;
        let met = i64::try_from(rows.len()).unwrap_or(BATCH);
        let last = rows.last().map_or(0, |row| row.id);
        let published = self.batch(rows).await?;
        metrics::counter!("omniflow_outbox_published_total").increment(published);
        self.floor.saw(last);
        let full = met >= BATCH;
        self.floor.polled(settled, if full { last } else { i64::MAX });
        if sweeping && full {
            self.sweep.again();
        }
        Ok(met)
    }

    /// Reacts to rows and hands them over. Rows of blocked streams are parked.
    async fn batch(&mut self, rows: Vec<outbox::Pending>) -> Result<u64, PublisherError> {
        let mut ready = Vec::with_capacity(rows.len());
        let mut bad = Vec::new();
        let mut behind = Vec::new();
        for row in rows {
            self.holder.is_mine(row.backend)?;
            if self.blocked.contains(&row.stream) {
                behind.push(row.id);
                continue;
            }
            match self.reactors.react(&row) {
                Ok(effects) => ready.push(Ready { row, effects }),
                Err(refused) => {
                    self.blocked.insert(row.stream.clone());
                    bad.push(Bad { row, refused });
                }
            }
        }
        let HandedOver {
            published,
            bad: refused,
            behind: waiting,
        } = if ready.is_empty() {
            HandedOver::default()
        } else {
            // They end with the statement that hands their rows over.
            let _spans = spans(&ready);
            hand_over(&mut self.holder, ready).await?
        };
        self.blocked.extend(refused.iter().map(|one| one.row.stream.clone()));
        bad.extend(refused);
        behind.extend(waiting);
        block(self.holder.connection(), &bad, &behind).await?;
        Ok(published)
    }
}

/// Refused for the moment, by a session that lives on: deadlock, statement or lock timeout, and the like.
fn is_passing(error: &StoreError) -> bool {
    matches!(
        error,
        StoreError::Conflict | StoreError::Constraint { .. } | StoreError::Unstorable
    ) || sqlstate(error).is_some_and(|code| !code.starts_with("57P") && !code.starts_with("08"))
}

fn set_gauges(backlog: &outbox::Backlog) {
    metrics::gauge!("omniflow_outbox_pending_events").set(to_float(backlog.pending));
    metrics::gauge!("omniflow_outbox_oldest_age_seconds").set(backlog.oldest_age_seconds);
    metrics::gauge!("omniflow_outbox_blocked_streams").set(to_float(backlog.blocked_streams));
}

/// Who does not publish does not count; the one who does says how much waits.
pub(super) fn clear_gauges() {
    set_gauges(&outbox::Backlog::default());
    metrics::gauge!("omniflow_outbox_publisher_active").set(0);
}

/// Counts far below 2^53 are exact in a gauge.
fn to_float(count: i64) -> f64 {
    u32::try_from(count.max(0)).map_or(f64::from(u32::MAX), f64::from)
}

/// Something that is due now and then.
struct Every {
    interval: Duration,
    last: Option<Instant>,
}

impl Every {
    const fn new(interval: Duration) -> Self {
        Self { interval, last: None }
    }

    fn is_due(&mut self) -> bool {
        let due = self.last.is_none_or(|last| last.elapsed() >= self.interval);
        if due {
            self.last = Some(Instant::now());
        }
        due
    }

    fn again(&mut self) {
        self.last = None;
    }
}
