//! Decisions of Omniflow: pure, synchronous, replayable.
//!
//! This crate knows no clock, makes no ids, reads no environment and does no I/O. Commands carry every fact a decision needs,
//! the time and new ids included; a decision returns events or a rejection and changes nothing.
//!
//! Glossary: *stream* (one aggregate's events), *sequence* (place in the stream, from 1), *position* (place in the whole log),
//! *command* (imperative), *event* (past), *rejection* (a command was refused), *desired state* (what the panel must show),
//! *operation* (one convergence of the panel to a desired state), *outbox* (side effects that a committed event owes), *window* (a time of
//! maintenance: nothing new is sold, nothing is written to the panel).

#![deny(missing_docs, clippy::float_arithmetic, clippy::wildcard_enum_match_arm)]
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

pub mod aggregate;
pub mod delivery;
pub mod entitlement;
#[cfg(test)]
mod fixtures;
pub mod fulfillment;
pub mod goods;
pub mod ids;
pub mod log;
pub mod maintenance;
pub mod money;
pub mod notices;
pub mod order;
pub mod plan;
#[cfg(test)]
mod properties;
pub mod time;
pub mod topics;
mod upcast;
