//! Why telemetry could not be set up.

/// A start-up failure.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TelemetryError {
    /// The filter is not of the form `info,sqlx=warn`.
    #[error("the log filter cannot be read: {0}")]
    Filter(String),
    /// Logs or metrics were set up before.
    #[error("telemetry is set up already")]
    AlreadyInstalled,
    /// Spans cannot be sent.
    #[error("traces cannot be sent: {0}")]
    Traces(&'static str),
    /// A histogram's buckets were refused.
    #[error("the metrics recorder was refused: {0}")]
    Recorder(String),
}

impl TelemetryError {
    /// Stable machine value.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Filter(_) => "log_filter_invalid",
            Self::AlreadyInstalled => "telemetry_already_installed",
            Self::Traces(_) => "traces_unusable",
            Self::Recorder(_) => "metrics_recorder_refused",
        }
    }
}
