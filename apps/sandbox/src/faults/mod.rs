//! Fault scripts: which requests go wrong, and how. A decision is journalled apart from effects, in `faults.journal.jsonl`.
//!
//! A fault is put together from three choices: whether the request is carried out, how long it takes before and after that,
//! and what the client gets to see. "Carried out, then no answer" is the one that proves idempotency.

mod fault;
mod layer;
mod rule;
mod script;

pub use fault::{Fault, FaultAnswer};
pub(crate) use layer::{FaultLayer, inject};
pub use rule::{FaultRule, SimulatorName, When};
pub use script::{FaultCounts, Faults, FiredFault};
