//! The worker: executes jobs and periodic passes.
//!
//! Every worker registers every kind and every pass; what lacks a key or a switch snoozes or returns. This crate alone names a mutating method
//! of the panel. It decides nothing: what a run means is in `service`, and what it leads to in `domain`.

mod figures;
pub mod jobs;
mod meter;
pub mod notices;
pub mod panel_pause;
pub mod passes;
pub mod push;
mod sender;
mod start;

pub use figures::report_until;
pub use panel_pause::PanelPause;
pub use start::{KnownKinds, Parts, Settings, Worker};
