//! The bot held to its contract, over real HTTP against the simulator.

#![cfg(test)]

mod faults;
mod group;
mod rig;
