//! What operators may do to work that is stuck: every change is conditional on the state that is found, and leaves an event or nothing.

mod cancel_operation;
mod jobs;
mod outbox_backlog;
mod resolve_delivery;
mod retry_operation;

pub use cancel_operation::Cancellation;
pub use outbox_backlog::Backlog;
pub use resolve_delivery::{DeliveryView, ResolveDelivery};
pub use retry_operation::OperationView;
