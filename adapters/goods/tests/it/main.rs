//! Tests of the goods providers against their contracts.

#![expect(clippy::expect_used, reason = "tests may be blunt")]

mod endpoint;
mod faults;
mod gateway;
mod rig;
