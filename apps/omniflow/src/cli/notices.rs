//! `notices …`

use clap::Subcommand;

use super::JsonArgs;

/// `notices …`
#[derive(Debug, Subcommand)]
pub enum NoticesCommand {
    /// Notices, newest first, without what they say.
    List {
        /// pending, sending, sent, suppressed or failed.
        #[arg(long, value_parser = ["pending", "sending", "sent", "suppressed", "failed"])]
        status: Option<String>,
        /// As `purchase` or `incident`.
        #[arg(long)]
        kind: Option<String>,
        /// How many.
        #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=1_000))]
        limit: u32,
        /// Print JSON instead of text.
        #[arg(long)]
        json: bool,
    },
    /// The topic of each kind, and why one is missing.
    Topics(JsonArgs),
    /// Send a failed or suppressed notice again, with a new budget.
    Retry {
        /// Its id.
        #[arg(required_unless_present = "failed", conflicts_with = "failed")]
        id: Option<i64>,
        /// Every one that failed.
        #[arg(long)]
        failed: bool,
    },
    /// Queue a trial notice and wait until a worker has sent it. Exits 1 when it did not get through.
    Test {
        /// How many seconds to wait.
        #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u32).range(0..=600))]
        wait: u32,
    },
}
