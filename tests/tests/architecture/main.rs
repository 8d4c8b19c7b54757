#![cfg(test)]
//! The shape of the workspace, held by tests that read ARCHITECTURE.md and deny.toml: document and rule cannot part.

mod cases;
mod crates;
mod dependencies;
mod failpoints;
mod graph;
mod licences;
mod migrations;
mod names;
mod sizes;
mod sources;
mod sql;
mod tables;
mod vocabulary;
