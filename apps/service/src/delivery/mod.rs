//! One order's goods, from a job to a recorded outcome: claim → (the worker calls the provider) → record.
//!
//! The submission is committed before the provider is called, and nothing is open during the call. Whoever finds a submission without an outcome
//! cannot know whether it was executed: at a provider without idempotency it is parked for a person, and never sent again. An order that the
//! provider accepted is only asked for.
//!
//! What this module must never do: call a provider.

mod claim;
mod follow_up;
mod park;
mod record;
mod schedule;

use std::{sync::Arc, time::Duration};

use domain::{
    delivery::Delivery,
    goods::{Kind, Product},
    ids::OrderId,
    log::Metadata,
    order::Order,
};
use ports::{clock::Clock, goods::SubmitRequest};
use queue::JobClient;
use store::{Store, StreamId};
use uuid::Uuid;

use crate::GoodsProviders;
pub use crate::fulfillment::{Fault, JobRef};
pub(crate) use follow_up::class_name;
pub use schedule::ScheduleReport;

/// Kind of the queue's jobs, of dead letters and of metrics.
pub const KIND: &str = "goods_delivery";

/// From the start of a submission on, nobody touches it for so long: longer than a gateway may take, and than a run may last.
pub const SUBMISSION: Duration = Duration::from_mins(2);

/// The most that may be spent at one provider in one currency within a span of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpendCeiling {
    /// In minor units of the currency that is spent.
    pub amount_minor: i64,
    /// The span of time.
    pub window: Duration,
}

/// The use cases of a delivery run.
#[derive(Clone, Debug)]
pub struct Deliveries {
    store: Store,
    queue: JobClient,
    clock: Arc<dyn Clock>,
    providers: GoodsProviders,
    ceiling: Option<SpendCeiling>,
}

/// What a claim leads to.
#[derive(Clone, Debug)]
pub enum Claim {
    /// Submit, then record.
    Submit(Box<Submit>),
    /// Ask, then record.
    Poll(Box<Poll>),
    /// Nothing is left to do; where there was something to record, it is, and the job has ended with it.
    Over,
    /// Not now.
    Wait(Duration),
}

/// A submission that is committed and not sent yet.
#[derive(Clone, Debug)]
pub struct Submit {
    /// The attempt of the queue that asked.
    pub job: JobRef,
    /// Slug of the provider.
    pub provider: String,
    /// Number of the attempt.
    pub attempt: i32,
    /// Ties together everything that one request set off.
    pub correlation_id: String,
    /// What is sent.
    pub request: SubmitRequest,
}

/// An accepted submission to be asked for.
#[derive(Clone, Debug)]
pub struct Poll {
    /// The attempt of the queue that asked.
    pub job: JobRef,
    /// The order it belongs to.
    pub order_id: OrderId,
    /// Slug of the provider.
    pub provider: String,
    /// Ties together everything that one request set off.
    pub correlation_id: String,
    /// The provider's name for the accepted submission.
    pub reference: String,
}

/// What the job does after a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handed {
    /// Delivered, failed or parked: the job has ended with it.
    Ended,
    /// Again after this time.
    Wait(Duration),
}

impl Deliveries {
    /// On the parts that every use case works with.
    pub fn new(store: Store, queue: JobClient, clock: Arc<dyn Clock>, providers: GoodsProviders) -> Self {
        Self {
            store,
            queue,
            clock,
            providers,
            ceiling: None,
        }
    }

    /// With a limit of what may be spent.
    #[must_use]
    pub fn with_ceiling(mut self, ceiling: Option<SpendCeiling>) -> Self {
        self.ceiling = ceiling;
        self
    }

    fn metadata(&self, order_id: Uuid, correlation_id: &str) -> Metadata {
        Metadata {
            correlation_id: correlation_id.to_owned(),
            causation_id: Some(format!("job:{order_id}")),
            actor: "system:worker".to_owned(),
            reason: None,
            at: self.clock.now(),
        }
    }
}

/// The streams that a delivery touches.
fn streams(order_id: Uuid) -> [StreamId; 2] {
    [StreamId::of::<Delivery>(order_id), StreamId::of::<Order>(order_id)]
}

/// What one submission costs the seller: where the provider publishes no price, what the customer paid stands in for it.
fn cost_minor(product: &Product, price: Option<domain::money::Money>) -> i64 {
    product
        .cost_minor
        .or(price.map(domain::money::Money::amount_minor))
        .unwrap_or(0)
}

fn request(order_id: OrderId, kind: Kind, recipient: store::recipients::Recipient) -> SubmitRequest {
    SubmitRequest {
        order_id,
        idempotency_key: format!("goods:{order_id}"),
        kind,
        username: recipient.username,
        telegram_user_id: recipient.telegram_user_id,
    }
}
