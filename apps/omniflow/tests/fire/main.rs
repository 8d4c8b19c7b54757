//! Separate processes, killed: what was paid for is provided once, whatever dies when.

mod goods;
mod installation;
mod kills;
mod process;
