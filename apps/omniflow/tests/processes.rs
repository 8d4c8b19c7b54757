#![cfg(test)]
//! Separate processes. One binary for all of it: most of these tests wait (for leases, rescues, starts), and together they wait once.

mod fire;
mod up;
