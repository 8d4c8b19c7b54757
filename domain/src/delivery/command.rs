//! What may be asked of a delivery.

use crate::{
    delivery::FailureClass,
    goods::Product,
    ids::{CustomerId, OrderId},
    money::Money,
    time::Timestamp,
};

/// What the provider, or the worker in its place, says of a submission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Submission {
    Delivered,
    Accepted { reference: String },
    Failed { class: FailureClass, code: String },
}

/// What a person found out about a parked delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Delivered,
    NotDelivered,
}

/// A request to a delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// A settled goods order owes its goods, for what the customer paid.
    Owe {
        order_id: OrderId,
        customer_id: CustomerId,
        product: Product,
        price: Money,
        at: Timestamp,
    },
    /// The next submission is about to be sent.
    StartSubmission { deadline: Timestamp, at: Timestamp },
    /// The outcome of submission `attempt`.
    RecordSubmission {
        attempt: i32,
        outcome: Submission,
        at: Timestamp,
    },
    /// A submission was found without an outcome after its deadline, at a provider without idempotency.
    ParkAbandoned { attempt: i32, at: Timestamp },
    /// What a poll of the reference found. `None` is: still working.
    RecordPoll { outcome: Option<Submission>, at: Timestamp },
    /// A person's verdict on a parked delivery.
    Resolve {
        verdict: Verdict,
        reason: String,
        at: Timestamp,
    },
    /// A person withdraws a delivery that was not submitted, or surely not executed.
    Cancel { reason: String, at: Timestamp },
}
