#![cfg(test)]
//! Tests that cross crates, one binary so that they link once.

mod harness;
mod reaper;
