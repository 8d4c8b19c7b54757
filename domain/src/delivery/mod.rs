//! The Delivery: digital goods that one paid order is owed, bought at most once.
//!
//! ```text
//! owed ──StartSubmission(n)──▶ submitting(n) ──▶ delivered
//!   ▲                              ├──▶ accepted(ref) ──poll──▶ delivered | needs_review
//!   └── retry_wait(until) ◀────────┤     (surely not executed)
//!                                  ├──▶ failed        (permanent, recipient, exhausted)
//!                                  └──▶ needs_review  (nobody knows) ──Resolve──▶ delivered | failed
//! owed, retry_wait ──Cancel──▶ cancelled
//! ```
//!
//! Invariants:
//! - I1 a submission is recorded before it is sent; without its outcome, and with a provider that has no idempotency, it is never sent again.
//! - I2 once a provider gave a reference, the delivery is only polled, never submitted again and never refunded by itself.
//! - I3 a retry follows only an outcome that is surely not executed; at most six submissions.
//!   A late answer of an abandoned submission counts when something was bought; else it stays with the person.
//! - I4 an end without goods names the money that is owed back, once.

mod command;
mod decide;
mod decision;
mod error;
mod event;
mod outcome;
mod public;
mod schedule;
mod state;
pub(crate) mod upcast;

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;

pub use command::{Command, Submission, Verdict};
pub use error::Error;
pub use event::{Event, FailureClass};
pub use schedule::{ABANDONED, MAX_SUBMISSIONS, POLL_SECONDS, backoff};
pub use state::{Delivery, State};
