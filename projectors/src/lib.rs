//! What follows from committed events: read models, and jobs and notices.
//!
//! *Projections* follow the log by position behind the fence and write rows that can be derived again; they are replayed at will and have no
//! other effect. *Reactors* turn outbox rows into jobs and notices, once, by the state of the row; they are never replayed.
//!
//! What this crate must never do: decide, call a provider, or read another projection's table.

#![deny(
    clippy::wildcard_enum_match_arm,
    reason = "a new event must be decided about, here as well"
)]

pub mod batch;
pub mod deliveries;
pub mod entitlements;
pub mod error;
pub mod operations_view;
pub mod orders;
pub mod projection;
pub mod publisher;
pub mod registry;
pub mod replay;
pub mod runner;
pub mod table;
pub mod verify;

pub use error::{ProjectionError, Stop};
pub use projection::{Projection, Row, RowChange};
pub use registry::{NAMES, Name};
