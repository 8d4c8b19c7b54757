//! The subscriber: one line an event, on standard error, because standard output belongs to the data a command prints; and, where a collector is
//! configured, spans to it.

use std::io::IsTerminal as _;

use tracing_subscriber::{
    Layer as _,
    filter::{ParseError, Targets},
    fmt,
    layer::SubscriberExt as _,
    util::SubscriberInitExt as _,
};

use crate::{
    TelemetryError,
    json::JsonLines,
    traces::{self, TraceOptions},
    wanted::Wanted,
};

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
    /// Filter in the form of `RUST_LOG`, as `info,sqlx=warn`. It has no say in what is traced.
    pub filter: &'a str,
}

/// Starts logging, and tracing where `traces` says where to, once per process.
///
/// # Errors
/// [`TelemetryError::Filter`], [`TelemetryError::Traces`], or [`TelemetryError::AlreadyInstalled`] when something logs already.
pub fn init(options: &LogOptions<'_>, traces: Option<&TraceOptions>) -> Result<(), TelemetryError> {
    let filter: Targets = options
        .filter
        .parse()
        .map_err(|error: ParseError| TelemetryError::Filter(error.to_string()))?;
    let lines = match options.format {
        Format::Json => JsonLines::new(std::io::stderr).boxed(),
        Format::Pretty => fmt::layer()
            .with_ansi(std::io::stderr().is_terminal())
            .with_writer(std::io::stderr)
            .boxed(),
    };
    let spans = traces.map(traces::layer).transpose()?;
    tracing_subscriber::registry()
        .with(Wanted::new(filter))
        .with(lines)
        .with(spans)
        .try_init()
        .map_err(|_| TelemetryError::AlreadyInstalled)
}
