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
    /// The goods arrived.
    Delivered,
    /// The provider took it and works on it.
    Accepted {
        /// The provider's name for it.
        reference: String,
    },
    /// It failed, in a class that says what may follow.
    Failed {
        /// How sure it is that nothing was executed.
        class: FailureClass,
        /// Why, as a stable machine value.
        code: String,
    },
}

/// What a person found out about a parked delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The goods arrived.
    Delivered,
    /// The goods did not arrive, and never will.
    NotDelivered,
}

/// A request to a delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// A settled goods order owes its goods, for what the customer paid.
    Owe {
        /// The order.
        order_id: OrderId,
        /// Who buys.
        customer_id: CustomerId,
        /// What is owed.
        product: Product,
        /// What the customer paid.
        price: Money,
        /// When it is asked.
        at: Timestamp,
    },
    /// The next submission is about to be sent.
    StartSubmission {
        /// From then on, without an outcome, it counts as abandoned.
        deadline: Timestamp,
        /// When it is asked.
        at: Timestamp,
    },
    /// The outcome of submission `attempt`.
    RecordSubmission {
        /// Number of the submission, from 1.
        attempt: i32,
        /// What became of it.
        outcome: Submission,
        /// When it is asked.
        at: Timestamp,
    },
    /// A submission was found without an outcome after its deadline, at a provider without idempotency.
    ParkAbandoned {
        /// Number of the submission, from 1.
        attempt: i32,
        /// When it is asked.
        at: Timestamp,
    },
    /// What a poll of the reference found. `None` is: still working.
    RecordPoll {
        /// What became of it.
        outcome: Option<Submission>,
        /// When it is asked.
        at: Timestamp,
    },
    /// A person's verdict on a parked delivery.
    Resolve {
        /// What the person found out.
        verdict: Verdict,
        /// Why, in the words of the person who decided.
        reason: String,
        /// When it is asked.
        at: Timestamp,
    },
    /// A person withdraws a delivery that was not submitted, or surely not executed.
    Cancel {
        /// Why, in the words of the person who decided.
        reason: String,
        /// When it is asked.
        at: Timestamp,
    },
}
