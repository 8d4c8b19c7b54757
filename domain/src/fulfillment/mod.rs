//! Policies of a fulfillment run that need neither clock nor storage: what a failure leads to, and by what stable code it is known.

pub mod code;
mod policy;

#[cfg(test)]
mod tests;

pub use policy::{FailureClass, MAX_FAILURES, NOTICE_AT, Next, after_failure, retry_delay};
