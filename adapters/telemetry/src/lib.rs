//! Logs and metrics of a process. Nothing here reads the environment: the configuration says what to do.

mod describe;
mod error;
mod logs;
mod metrics;
pub mod registry;

pub use error::TelemetryError;
pub use logs::{Format, LogOptions, init_logs};
pub use metrics::Metrics;
