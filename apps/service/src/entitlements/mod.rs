//! What operators ask of entitlements: changes, pauses, a look at one.

mod change;
mod request;
mod view;

pub use change::AcceptedOperation;
pub use request::{ChangeEntitlement, ChangeRequest, Fields};
pub use view::{EntitlementView, OpenOperationView, PlannedChangeView};
