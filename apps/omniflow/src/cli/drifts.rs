//! `drifts …`.

use clap::Subcommand;

/// `drifts …`
#[derive(Debug, Subcommand)]
pub enum DriftsCommand {
    /// Differences that are open, newest first. One stays open only as long as the panel cannot be made to agree.
    List {
        /// Those that are over, too.
        #[arg(long)]
        all: bool,
        /// How many.
        #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=500))]
        limit: u32,
        /// One JSON object a line.
        #[arg(long)]
        json: bool,
    },
}
