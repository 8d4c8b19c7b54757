//! What operators may do to work that is stuck: every change is conditional on the state that is found, and leaves an event or nothing.

mod audit_trail;
mod cancel_delivery;
mod cancel_operation;
mod dead_letters;
mod drifts;
mod jobs;
mod notices;
mod operations;
mod outbox_backlog;
mod read_deliveries;
mod resolve_delivery;
mod retry_operation;

pub use audit_trail::{AuditRow, AuditSearch};
pub use cancel_delivery::CancelDelivery;
pub use cancel_operation::Cancellation;
pub use dead_letters::{DeadLetterReport, DeadLetterRow, DeadLetterSearch};
pub use drifts::DriftView;
pub use operations::{HistoryView, OperationRow, OperationSearch, Page};
pub use outbox_backlog::Backlog;
pub use read_deliveries::{DeliveryDetail, DeliveryStep};
pub use resolve_delivery::{DeliveryView, ResolveDelivery};
pub use retry_operation::OperationView;
pub(crate) use retry_operation::no_queue;
