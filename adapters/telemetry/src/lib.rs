//! Logs, traces and metrics of a process. Nothing here reads the environment: the configuration says what to do.

mod context;
mod describe;
mod error;
mod json;
mod logs;
mod metrics;
mod process;
pub mod registry;
mod tls;
mod traces;
mod wanted;

pub use context::adopt;
pub use error::TelemetryError;
pub use logs::{Format, LogOptions, init};
pub use metrics::Metrics;
pub use traces::{Sampling, TraceOptions, flush};
