//! The Order: what was asked for, what it costs, what was paid, and how far it came.
//!
//! ```text
//! (none) ──Place──▶ pending ──settling payment──▶ paid ──MarkFulfilled──▶ fulfilled
//!    │                 ├──Cancel──▶ cancelled ──settling payment──▶ paid
//!    │                 └──Expire──▶ expired   ──settling payment──▶ paid
//!    └──Place, nothing to pay──▶ paid
//! ```
//!
//! Invariants:
//! - I1 `wallet + external = subtotal − discount`, all of one currency, none negative.
//! - I2 an order is paid at most once, and only by a payment of exactly `external` in its own currency.
//! - I3 a payment that does not settle is recorded with its classification and changes no state.
//! - I4 a payment is known by (intent, provider's event id): the same one again adds nothing.
//! - I5 a paid order is never cancelled or expired; a fulfilled one never becomes unpaid.

mod command;
mod decide;
mod error;
mod event;
mod payment;
mod place;
mod public;
mod state;
pub(crate) mod upcast;

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;

pub use command::Command;
pub use error::Error;
pub use event::{Classification, Event, Item, Operation};
pub use state::{Intent, Order, State};
