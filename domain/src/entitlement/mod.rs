//! The Entitlement: the right to ONE subscription (one remote user) for its whole life.
//!
//! It holds what the panel must show as a *desired state* with a version that only grows. Purchases and extensions append changes; nothing
//! supersedes anything. An *operation* converges the panel to the desired state; whichever operation runs pushes the newest due version.
//!
//! Invariants:
//! - I1 versions grow by one per change; an applied version is never above the desired one.
//! - I2 an order changes an entitlement once: the same order again adds nothing.
//! - I3 the end never moves back by an extension: base is the later of the current end and now.
//! - I4 an operation ends once (succeeded, failed, cancelled); only a failed one can be reopened.
//! - I5 a remote user id, once recorded, is never another customer's: it changes only by a new provisioning.
//! - I6 of one kind of drift one is open at a time: a detection opens or refreshes it, a correction ends it.
//! - I7 a pause neither gives nor takes time: its end moves the paid end by exactly what passed.
//! - I8 a planned change is in no desired state before its moment, and is never lost: it takes effect or is dropped by an event.

mod asked;
mod change;
mod changes;
mod command;
mod decide;
mod desired_state;
pub mod drift;
mod error;
mod event;
mod grant;
mod operation;
mod operations;
mod public;
mod reconcile;
mod state;
pub(crate) mod upcast;

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;

pub use asked::{Asked, Limit, MAX_SQUADS};
pub use change::{Change, Planned};
pub use command::{Agreed, BadEnd, Command};
pub use desired_state::{Access, DesiredState, remote_description, remote_username};
pub use drift::{Difference, DriftKind, Observed, Side};
pub use error::Error;
pub use event::{Event, RemoteStatus};
pub use operation::{OpenOperation, OperationKind, OperationState, Outcome};
pub use state::Entitlement;
