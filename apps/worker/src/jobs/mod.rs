//! What each kind of job does.

mod fulfillment;

pub use fulfillment::FulfillmentJobs;
