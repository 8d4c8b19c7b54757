#![cfg(test)]
//! The use cases against a real database and a provider that fails on command.

mod cases;
mod dead_letters;
mod detection;
mod maintenance;
mod money;
mod notices;
mod operations;
mod operators;
mod orders;
mod payments;
mod provider;
mod retention;
mod settlement;
mod webhooks;
mod world;
