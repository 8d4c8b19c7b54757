//! The durable queue: River's tables and protocol, through the official client.
//!
//! Who inserts holds a [`JobClient`]; only the worker process holds a [`Running`] client that executes. The crate knows what a job is for only by
//! its arguments; what running it means is a [`Handler`] of the worker. `jiff`, River's calendar, is named here and nowhere else.

mod args;
mod bulk;
mod client;
mod counts;
mod dead;
mod error;
mod figures;
mod finish;
mod handler;
mod jobs;
mod queues;
mod running;

pub use args::{FulfillmentArgs, GoodsDeliveryArgs, PeriodicArgs, Subject};
pub use bulk::{BulkJob, bulk_row};
pub use client::{Inserted, JobClient};
pub use dead::DeadJob;
pub use error::QueueError;
pub use figures::Depth;
pub use finish::{Finish, finish_in};
pub use handler::{Failure, Handler, Handlers, Limit, Outcome, Run, Surroundings};
pub use jobs::{CancelResult, JobState, JobView, Listing, ListingFilter};
pub use queues::{QueueSizes, Queues, SCHEMA};
pub use riverqueue::JobArgs;
pub use running::{Pass, Running, Timing, WorkerOptions};
