#![cfg(test)]
//! Projections and the publisher against a real PostgreSQL, one binary so that it links once.

mod catch_up;
mod conformance;
mod exactly_once;
mod follow;
mod log;
mod outbox_rows;
mod poison;
mod rebuild;
mod stories;
mod take_over;
mod verification;
