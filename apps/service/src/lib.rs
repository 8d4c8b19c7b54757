//! The use cases: what an API client, an operator, the bot or a job may ask for, one file each.
//!
//! This crate alone executes commands of aggregates. A use case loads the streams it needs, decides, and commits everything in one
//! unit of work; when another writer was faster it runs again with the same ids ([`retry::retry_on_conflict`]). It calls the outside
//! world through `ports` only, and never while a transaction is open.

pub mod catalog;
mod error;
mod providers;
pub mod retry;
mod service;

pub use error::{Error, Refusal, Severity};
pub use providers::{GoodsProviders, PaymentProviders};
pub use service::{Builder, Service};
