//! What may be asked of an entitlement.

use crate::{
    entitlement::{Asked, Observed, OpenOperation, RemoteStatus},
    ids::{CustomerId, EntitlementId, OperationId, OrderId, SubscriptionId},
    plan::Terms,
    time::Timestamp,
};

/// What the panel shows in agreement with the desired state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Agreed {
    /// Version of the desired state.
    pub version: i64,
    /// The panel's key of the remote user.
    pub remote_user_id: i64,
    /// What the panel says of it.
    pub remote_status: RemoteStatus,
}

/// How an operation ends that did not succeed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadEnd {
    /// It gave up for good.
    Failed {
        /// Failures that led here.
        attempts: i32,
    },
    /// An operator abandoned it.
    Cancelled,
}

/// A request to an entitlement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// The first period, with a `create` operation.
    Grant {
        /// The entitlement.
        entitlement_id: EntitlementId,
        /// The one remote user it is about.
        subscription_id: SubscriptionId,
        /// Who buys.
        customer_id: CustomerId,
        /// The order that paid for it.
        order_id: OrderId,
        /// As sold.
        terms: Terms,
        /// Not to be shown before; absent means at once.
        effective_at: Option<Timestamp>,
        /// The convergence that it opens.
        operation: OpenOperation,
        /// When it is asked.
        at: Timestamp,
    },
    /// A further period, with an `extend` operation; resets used traffic.
    Extend {
        /// The order that paid for it.
        order_id: OrderId,
        /// As sold.
        terms: Terms,
        /// Not to be shown before; absent means at once.
        effective_at: Option<Timestamp>,
        /// The convergence that it opens.
        operation: OpenOperation,
        /// When it is asked.
        at: Timestamp,
    },
    /// An operator's change, with the operation that shows it. The same key again changes nothing; with another content it is refused.
    Change {
        /// What is asked.
        asked: Asked,
        /// Not to be shown before; absent or past means at once.
        effective_at: Option<Timestamp>,
        /// The convergence that it opens.
        operation: OpenOperation,
        /// When it is asked.
        at: Timestamp,
    },
    /// Planned changes whose moment has come take effect.
    TakeEffect {
        /// When it is asked.
        at: Timestamp,
    },
    /// Opens a `reconcile`. At most one is open at a time: a second changes nothing.
    OpenReconcile {
        /// The convergence that it opens.
        operation: OpenOperation,
        /// When it is asked.
        at: Timestamp,
    },
    /// The panel was made to show `version`; ends the operation with success. Recorded even for an operation that has ended otherwise:
    /// what the panel shows is a fact.
    RecordApplied {
        /// The operation.
        operation_id: OperationId,
        /// Version that the panel shows now.
        version: i64,
        /// The panel's key of the remote user.
        remote_user_id: i64,
        /// What the panel said of it.
        remote_status: RemoteStatus,
        /// When it is asked.
        at: Timestamp,
    },
    /// A look at the panel: differences become drift, and drift that is not seen any more is over. Changes nothing when the desired state
    /// has moved since the look was taken, or when nothing was ever shown.
    RecordDrift {
        /// The operation that looked; absent for a look that a hint of the panel led to.
        operation_id: Option<OperationId>,
        /// Desired version that the look was taken for.
        version: i64,
        /// The user; absent when the panel has none.
        observed: Option<Observed>,
        /// When it is asked.
        at: Timestamp,
    },
    /// A `reconcile` ends well: the panel agrees. Nothing is recorded of one that changed nothing and that the stream does not know.
    RecordReconciled {
        /// The operation; the stream may not know it.
        operation_id: OperationId,
        /// What the panel shows; absent where it need not show anything any more.
        agreed: Option<Agreed>,
        /// When it is asked.
        at: Timestamp,
    },
    /// A `reconcile` gives up or is abandoned. One that lived in its row alone enters the stream together with its end, and is not announced.
    EndReconcile {
        /// The operation; the stream may not know it.
        operation: OpenOperation,
        /// How it ends.
        end: BadEnd,
        /// Why, as a stable machine value.
        code: String,
        /// When it is asked.
        at: Timestamp,
    },
    /// The operation's version was already applied by another one; ends it with success and without a push.
    CloseSuperseded {
        /// The operation.
        operation_id: OperationId,
        /// When it is asked.
        at: Timestamp,
    },
    /// Ends the operation as failed.
    RecordFailed {
        /// The operation.
        operation_id: OperationId,
        /// Why, as a stable machine value.
        code: String,
        /// Failures that led here.
        attempts: i32,
        /// When it is asked.
        at: Timestamp,
    },
    /// An operator's new budget for a failed operation. Its job is inserted by whoever asks: nothing is announced.
    RetryOperation {
        /// The operation.
        operation_id: OperationId,
        /// When it is asked.
        at: Timestamp,
    },
    /// An operator abandons an operation that has not succeeded.
    CancelOperation {
        /// The operation.
        operation_id: OperationId,
        /// Why, as a stable machine value.
        code: String,
        /// When it is asked.
        at: Timestamp,
    },
}
