//! Sends what operators should be told: leases a few notices in a short transaction, sends each outside of any, records what came of it.
//!
//! **At least once, at most twice.** A notice is marked before its request and recorded after it. A process that dies in between, or an
//! answer that never comes, leaves open whether it stands in the group: it is sent once more. When that one stays unanswered too, it ends
//! `failed` (`outcome_unknown`) and only a person sends it again.
//!
//! One process at a time has the turn, so that the group's pace is kept; who has it and until when is in the database, as are pauses: a
//! flood wait outlives the process that was told of it.

mod bind;
mod report;
mod send;

use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant},
};

use domain::notices::{Cap, Kind};
use ports::{
    ids::Ids,
    notices::{ChatId, OperatorChannel},
};
use store::{
    Store, StoreError,
    notices::{self, Limits, Topic, Turn},
};
use uuid::Uuid;

pub use report::Report;

/// Rows that one run looks at.
const BATCH: i64 = 50;
/// Requests a minute: Telegram lets about twenty through into one group.
const PACE: u32 = 18;
/// A turn, and the lease of its notices. Longer than a batch may take, so that nobody sends what another process is sending.
const TURN: Duration = Duration::from_mins(2);
/// Nothing is sent later than this after the turn began: three requests of one notice end before its lease does.
const LAST_REQUEST: Duration = Duration::from_mins(1);

/// What sends notices. Cheap to clone.
#[derive(Clone, Debug)]
pub struct NoticeDispatch {
    store: Store,
    ids: Arc<dyn Ids>,
    channel: Arc<dyn OperatorChannel>,
    chat: ChatId,
    cap: Cap,
    pace: u32,
}

/// One turn.
struct Run<'a> {
    of: &'a NoticeDispatch,
    token: Uuid,
    chat: ChatId,
    /// Failures in a row that were not one notice's own.
    pauses: i32,
    topics: BTreeMap<Kind, Topic>,
    report: Report,
}

/// Whether the turn goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flow {
    GoOn,
    Stop,
}

impl NoticeDispatch {
    /// Sends to one group through one channel.
    pub fn new(store: Store, ids: Arc<dyn Ids>, channel: Arc<dyn OperatorChannel>, chat: ChatId, cap: Cap) -> Self {
        Self {
            store,
            ids,
            channel,
            chat,
            cap,
            pace: PACE,
        }
    }

    /// Another number of requests a minute.
    #[must_use]
    pub fn with_pace(mut self, pace: u32) -> Self {
        self.pace = pace;
        self
    }

    /// Takes the turn if it is nobody's, and sends what is due. `go_on` is asked before each request; what was leased by then and not sent
    /// is given back.
    ///
    /// # Errors
    /// [`StoreError`] when a statement fails. What was being sent is sorted out by the next run.
    pub async fn run_once(&self, go_on: impl Fn() -> bool + Send + Sync) -> Result<Report, StoreError> {
        let pool = self.store.pool();
        let (token, started) = (self.ids.next(), Instant::now());
        let turn = notices::take_turn(pool, self.chat.0, token, TURN).await?;
        let Turn::Taken {
            chat_id,
            paused,
            pauses,
        } = turn
        else {
            return Ok(Report::default());
        };
        let mut run = Run {
            of: self,
            token,
            chat: ChatId(chat_id),
            pauses,
            topics: BTreeMap::new(),
            report: Report {
                has_turn: true,
                paused_seconds: paused.as_secs(),
                ..Report::default()
            },
        };
        let outcome = if paused.is_zero() {
            run.work(|| go_on() && started.elapsed() < LAST_REQUEST).await
        } else {
            Ok(())
        };
        let given_back = notices::give_back(pool, token).await;
        let ended = notices::end_turn(pool, token).await;
        outcome.and(given_back).and(ended)?;
        Ok(run.report)
    }

    /// Sets the gauges of what was not sent. Every process does, whosever turn it is.
    ///
    /// # Errors
    /// [`StoreError`] when the statement fails.
    pub async fn observe(&self) -> Result<(), StoreError> {
        let waiting = notices::waiting(self.store.pool()).await?;
        for status in ["pending", "failed"] {
            let count: i64 = waiting
                .iter()
                .filter(|one| one.status == status)
                .map(|one| one.count)
                .sum();
            let count = u32::try_from(count).unwrap_or(u32::MAX);
            metrics::gauge!("omniflow_notices", "status" => status).set(f64::from(count));
        }
        Ok(())
    }

    fn limits(&self) -> Limits {
        Limits {
            batch: BATCH,
            cap: self.cap,
            pace: self.pace,
            lease: TURN,
        }
    }
}

impl Run<'_> {
    async fn work(&mut self, go_on: impl Fn() -> bool + Send + Sync) -> Result<(), StoreError> {
        let pool = self.of.store.pool();
        notices::prepare(pool, self.chat.0).await?;
        self.topics = notices::topics(pool, self.chat.0)
            .await?
            .into_iter()
            .map(|topic| (topic.kind, topic))
            .collect();
        if self.bind_new(&go_on).await? == Flow::Stop {
            return Ok(());
        }
        let (claimed, settled) = notices::claim(pool, self.token, &self.of.limits()).await?;
        fail::fail_point!("notices.after_claim");
        for one in settled {
            self.report.settled(&one);
        }
        for one in claimed {
            if !go_on() || self.deliver(&one).await? == Flow::Stop {
                break;
            }
        }
        Ok(())
    }
}
