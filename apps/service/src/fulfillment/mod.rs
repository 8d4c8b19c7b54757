//! One operation, from a job to its recorded outcome: claim → (the worker calls the panel) → record.
//!
//! Claim and record are short transactions; nothing is open while the panel is called. A run holds the *lease* of its subscription, so there is
//! one writer to the panel at a time; its record is fenced by the lease's token. Order of locks everywhere: lease, operation, queue row, streams.
//!
//! What this module must never do: call the panel.

mod claim;
mod close;
mod ending;
mod failure;
mod hold;
mod late_write;
mod lease_sweep;
mod look;
mod persist;
mod record;
mod revive;
mod superseded;
mod upkeep;

use std::{sync::Arc, time::Duration};

use domain::{
    entitlement::{DesiredState, Entitlement, OperationKind},
    ids::{EntitlementId, OperationId, OrderId, SubscriptionId},
    log::Metadata,
    order::Order,
    time::Timestamp,
};
use ports::{clock::Clock, ids::Ids};
use queue::{JobClient, QueueError};
use store::{Store, StoreError, StreamId};
use uuid::Uuid;

use crate::maintenance::Gate;

pub(crate) use close::refused;
pub use failure::{CallFailure, Handed};
pub use lease_sweep::SweepReport;
pub use look::{Look, Looked};
pub(crate) use persist::persist;
pub use record::Shown;
pub use revive::ReviveReport;
pub use superseded::SupersededReport;
pub use upkeep::{BUCKET, UpkeepReport};
pub(crate) use upkeep::{Granted, Wish};

/// How long a lease is held: the age at which the queue takes a run to be lost.
pub const LEASE: Duration = Duration::from_secs(30);

/// How long after a possibly lost request the panel is converged once more.
pub const LATE_WRITE: Duration = Duration::from_mins(1);

/// Kind of the queue's jobs, of dead letters and of metrics.
pub const KIND: &str = "fulfillment";

/// The use cases of a fulfillment run.
#[derive(Clone, Debug)]
pub struct Fulfillment {
    store: Store,
    queue: JobClient,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn Ids>,
    gate: Gate,
}

/// The queue's attempt on whose behalf something is claimed and recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobRef {
    /// The queue's job.
    pub job_id: i64,
    /// The queue's own count.
    pub attempt: i32,
}

/// What a claim leads to.
#[derive(Clone, Debug)]
pub enum Claim {
    /// Call the panel, then record.
    Run(Box<Claimed>),
    /// Nothing is left to do; where there was something to record, it is, and the job has ended with it.
    Over,
    /// Not now.
    Wait(Duration),
}

/// A run that may call the panel.
#[derive(Clone, Debug)]
pub struct Claimed {
    /// The attempt of the queue that asked.
    pub job: JobRef,
    /// The operation.
    pub operation_id: OperationId,
    /// Whose desired state is pushed.
    pub entitlement_id: EntitlementId,
    /// The one remote user it is about.
    pub subscription_id: SubscriptionId,
    /// The order it belongs to.
    pub order_id: Option<OrderId>,
    /// Its kind.
    pub kind: OperationKind,
    /// Ties together everything that one request set off.
    pub correlation_id: String,
    /// Number of the attempt in the present budget.
    pub attempt: i32,
    /// When the operation was asked for.
    pub opened_at: Timestamp,
    /// What the panel is to show.
    pub desired: DesiredState,
    /// Newest version that the panel was seen to show.
    pub applied_version: i64,
    /// The panel's key of the user, where it is known.
    pub remote_user_id: Option<i64>,
    /// Some request for this subscription may be in flight, or may have landed unseen.
    pub unanswered: bool,
    token: Uuid,
}

/// What a recorded run leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Recorded {
    /// The operation has ended, and the job with it.
    Ended,
    /// Another run took over meanwhile: nothing of this one was recorded.
    FencedOut,
}

/// A failed use case.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The queue failed.
    #[error(transparent)]
    Queue(#[from] QueueError),
    /// An aggregate refused what follows from its own state.
    #[error("refused: {code}")]
    Refused {
        /// Its stable code.
        code: &'static str,
    },
}

impl Fault {
    /// Stable machine value.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Store(error) => error.code(),
            Self::Queue(error) => error.code(),
            Self::Refused { code } => code,
        }
    }

    /// Another try of the same may succeed.
    pub const fn is_passing(&self) -> bool {
        match self {
            Self::Store(error) => !matches!(error, StoreError::Corrupt { .. } | StoreError::Unstorable),
            Self::Queue(_) => true,
            Self::Refused { .. } => false,
        }
    }
}

impl From<Fault> for crate::Error {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Store(error) => error.into(),
            Fault::Queue(error) => error.into(),
            Fault::Refused { .. } => Self::Inconsistent("a decision of fulfillment"),
        }
    }
}

impl Fulfillment {
    /// On the parts that every use case works with.
    pub fn new(store: Store, queue: JobClient, clock: Arc<dyn Clock>, ids: Arc<dyn Ids>) -> Self {
        Self {
            gate: Gate::new(store.clone()),
            store,
            queue,
            clock,
            ids,
        }
    }

    /// Events of a run say which operation caused them and that the worker acted.
    fn metadata(&self, operation_id: impl std::fmt::Display, correlation_id: &str) -> Metadata {
        Metadata {
            correlation_id: correlation_id.to_owned(),
            causation_id: Some(format!("job:{operation_id}")),
            actor: "system:worker".to_owned(),
            reason: None,
            at: self.clock.now(),
        }
    }
}

/// The streams that the end of an operation touches.
fn streams(entitlement_id: Uuid, order_id: Option<Uuid>) -> Vec<StreamId> {
    let mut streams = vec![StreamId::of::<Entitlement>(entitlement_id)];
    streams.extend(order_id.map(StreamId::of::<Order>));
    streams
}

/// Correlation of a job, for its metadata column: never part of a unique job's arguments.
pub(crate) fn job_metadata(correlation_id: &str) -> serde_json::Map<String, serde_json::Value> {
    let mut metadata = serde_json::Map::new();
    metadata.insert("correlationId".to_owned(), correlation_id.into());
    if let Some(trace) = ports::trace::current() {
        metadata.insert("traceparent".to_owned(), trace.to_string().into());
    }
    metadata
}

/// A pushed version closes it without a call when nothing of it is in flight. Used traffic starts anew only by the operation for it.
fn may_be_superseded(version: i64, kind: &OperationKind, applied_version: i64) -> bool {
    !matches!(kind, OperationKind::Reconcile | OperationKind::ResetTraffic) && version <= applied_version
}
