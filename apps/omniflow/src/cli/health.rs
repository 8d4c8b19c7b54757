//! `health …`

use clap::{Args, ValueEnum};

/// Arguments of `health`.
#[derive(Clone, Copy, Debug, Args)]
pub struct HealthArgs {
    /// Whose readiness, at the address that its settings name.
    #[arg(value_enum)]
    pub process: HealthOf,
}

/// A process that listens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum HealthOf {
    /// At APP_HTTP_ADDR.
    Api,
    /// At APP_WORKER_HTTP_ADDR.
    Worker,
}
