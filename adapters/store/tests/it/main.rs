//! The store against a real server, in one binary.

#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

mod append_only;
mod audit;
mod chain;
mod concurrency;
mod fence;
mod fence_load;
mod inspection;
mod migration;
mod retention;
mod session;
mod support;
mod trace;
mod unit_of_work;
