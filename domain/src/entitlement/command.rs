//! What may be asked of an entitlement.

use crate::{
    entitlement::{OpenOperation, RemoteStatus},
    ids::{CustomerId, EntitlementId, OperationId, OrderId, SubscriptionId},
    plan::Terms,
    time::Timestamp,
};

/// A request to an entitlement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// The first period, with a `create` operation.
    Grant {
        entitlement_id: EntitlementId,
        subscription_id: SubscriptionId,
        customer_id: CustomerId,
        order_id: OrderId,
        terms: Terms,
        effective_at: Option<Timestamp>,
        operation: OpenOperation,
        at: Timestamp,
    },
    /// A further period, with an `extend` operation; resets used traffic.
    Extend {
        order_id: OrderId,
        terms: Terms,
        effective_at: Option<Timestamp>,
        operation: OpenOperation,
        at: Timestamp,
    },
    /// Opens a `reconcile`. At most one is open at a time: a second changes nothing.
    OpenReconcile { operation: OpenOperation, at: Timestamp },
    /// The panel was made to show `version`; ends the operation with success.
    RecordApplied {
        operation_id: OperationId,
        version: i64,
        remote_user_id: i64,
        remote_status: RemoteStatus,
        at: Timestamp,
    },
    /// The operation's version was already applied by another one; ends it with success and without a push.
    CloseSuperseded { operation_id: OperationId, at: Timestamp },
    /// Ends the operation as failed.
    RecordFailed {
        operation_id: OperationId,
        code: String,
        attempts: i32,
        at: Timestamp,
    },
    /// An operator's new budget for a failed operation.
    RetryOperation { operation_id: OperationId, at: Timestamp },
    /// An operator abandons an operation that has not succeeded.
    CancelOperation {
        operation_id: OperationId,
        code: String,
        at: Timestamp,
    },
}
