//! The worker against a real database, with a panel and a goods provider in memory.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test whose ground is missing has nothing better to say"
)]

mod changes;
mod dead_letters;
mod drift;
mod drift_storm;
mod fulfillment;
mod goods;
mod goods_decisions;
mod maintenance;
mod operators;
mod passes;
mod planned;
mod provisioning;
mod retries;
mod running;
mod storm;
mod support;
mod upkeep;
