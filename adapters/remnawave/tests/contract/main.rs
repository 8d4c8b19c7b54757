//! The real client against the simulator, over real HTTP.
//!
//! What holds here is what the product may rely on: a change of either side that breaks their agreement breaks this suite.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may be blunt")]

mod classes;
mod faults;
mod raw;
mod restart;
mod rig;
mod users;
mod webhooks;
