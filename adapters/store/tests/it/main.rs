//! The store against a real server, in one binary.

#![allow(clippy::missing_panics_doc, clippy::as_conversions, reason = "tests are blunt")]

mod append_only;
mod chain;
mod concurrency;
mod migration;
mod session;
mod support;
mod unit_of_work;
