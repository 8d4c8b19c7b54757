#![cfg(test)]
//! A private server in all its situations, with real servers on throw-away directories.

mod accounts;
mod child;
mod ground;
mod left_behind;
mod standing_server;
mod start;
