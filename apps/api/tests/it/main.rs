#![cfg(test)]
//! The doors, by requests as they come in.

mod bodies;
mod catalog;
mod cryptopay;
mod deliveries;
mod doors;
mod entitlements;
mod golden;
mod health;
mod jobs;
mod maintenance;
mod operations;
mod orders;
mod panel_webhooks;
mod payments;
mod trace;
mod world;
