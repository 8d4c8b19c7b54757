//! Tests of the payment providers against their contracts.

#![expect(clippy::expect_used, clippy::panic, reason = "tests may be blunt")]

mod crypto_pay;
mod deliveries;
mod manual;
mod rig;
mod webhook;
