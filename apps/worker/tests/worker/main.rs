//! The worker against a real database and a panel in memory.

mod fulfillment;
mod retries;
mod support;
