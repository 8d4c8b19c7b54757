//! The subscriber: one line an event, on standard error, because standard output belongs to the data a command prints.

use std::io::IsTerminal as _;

use tracing_subscriber::{EnvFilter, fmt, layer::SubscriberExt as _, util::SubscriberInitExt as _};

use crate::TelemetryError;

/// How a line looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// One JSON object.
    #[default]
    Json,
    /// For eyes.
    Pretty,
}

/// What is logged, and how.
#[derive(Clone, Copy, Debug)]
pub struct LogOptions<'a> {
    /// How a line looks.
    pub format: Format,
    /// Filter in the form of `RUST_LOG`, as `info,sqlx=warn`.
    pub filter: &'a str,
}

/// Starts logging, once per process.
///
/// # Errors
/// [`TelemetryError::Filter`], or [`TelemetryError::AlreadyInstalled`] when something logs already.
pub fn init_logs(options: &LogOptions<'_>) -> Result<(), TelemetryError> {
    let filter = EnvFilter::try_new(options.filter).map_err(|error| TelemetryError::Filter(error.to_string()))?;
    let registry = tracing_subscriber::registry().with(filter);
    let installed = match options.format {
        Format::Json => registry
            .with(fmt::layer().json().flatten_event(true).with_writer(std::io::stderr))
            .try_init(),
        Format::Pretty => registry
            .with(
                fmt::layer()
                    .with_ansi(std::io::stderr().is_terminal())
                    .with_writer(std::io::stderr),
            )
            .try_init(),
    };
    installed.map_err(|_| TelemetryError::AlreadyInstalled)
}
