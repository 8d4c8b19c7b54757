//! The use cases: what an API client, an operator, the bot or a job may ask for, one file each.
//!
//! This crate alone executes commands of aggregates. A use case loads the streams it needs, decides, and commits everything in one
//! unit of work; when another writer was faster it runs again with the same ids ([`retry::retry_on_conflict`]). It calls the outside
//! world through `ports` only, and never while a transaction is open.

mod answers;
mod caller;
mod cancel_order;
pub mod catalog;
mod cursor;
pub mod delivery;
pub mod entitlements;
mod error;
mod expire_orders;
pub mod fulfillment;
mod get_order;
mod list_orders;
pub mod maintenance;
pub mod notice_dispatch;
mod notices;
pub mod operators;
pub mod panel_hints;
pub mod passes;
pub mod payments;
pub mod place_order;
mod providers;
pub mod retention;
pub mod retry;
mod service;
mod settlement;
mod views;
pub mod webhooks;

pub use answers::Done;
pub use caller::Caller;
pub use cursor::Cursor;
pub use entitlements::{AcceptedOperation, ChangeEntitlement, ChangeRequest, EntitlementView};
pub use error::{Error, Refusal, Severity};
pub use expire_orders::ExpireReport;
pub use maintenance::{MaintenanceView, SetMaintenance};
pub use operators::{
    AuditRow, AuditSearch, Backlog, CancelDelivery, Cancellation, DeadLetterReport, DeadLetterRow, DeadLetterSearch,
    DeliveryDetail, DeliveryStep, DeliveryView, DriftView, HistoryView, OperationRow, OperationSearch, OperationView,
    Page, ResolveDelivery,
};
pub use place_order::{PlaceOrder, RecipientIn, Wanted};
pub use providers::{GoodsProviders, PaymentProviders};
pub use service::{Builder, Service};
pub use store::{KeyedRequest, StoredAnswer};
pub use views::{OrderView, PaymentView};
