//! The worker against a real database, with a panel and a goods provider in memory.

mod fulfillment;
mod goods;
mod retries;
mod running;
mod support;
