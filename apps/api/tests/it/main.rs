#![cfg(test)]
//! The doors, by requests as they come in.

mod bodies;
mod catalog;
mod cryptopay;
mod doors;
mod golden;
mod health;
mod jobs;
mod operations;
mod orders;
mod payments;
mod trace;
mod world;
