//! What each kind of job does.

mod fulfillment;
mod goods;
mod periodic;

pub use fulfillment::FulfillmentJobs;
pub use goods::GoodsJobs;
pub use periodic::PeriodicJobs;
