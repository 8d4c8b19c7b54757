//! What the core asks of the outside world: traits and plain types, no vendor type, no I/O.
//!
//! One method of a port is one request: adapters do not retry, the job does. A worker checks its deadline before every call.

pub mod clock;
pub mod goods;
pub mod ids;
pub mod notices;
pub mod panel;
pub mod panel_webhooks;
pub mod payments;
pub mod trace;
