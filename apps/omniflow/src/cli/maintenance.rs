//! `maintenance …`

use chrono::{DateTime, Utc};
use clap::{Args, Subcommand};

use super::JsonArgs;

/// `maintenance …`
#[derive(Debug, Subcommand)]
pub enum MaintenanceCommand {
    /// Whether a window is open, since when, and what is said about it.
    Show(JsonArgs),
    /// Open a window, or change the words of the open one. Only a person closes it again.
    On(WindowArgs),
    /// Close the window, whatever opened it. One whose dependency is still down opens again after a streak of bad samples.
    Off {
        /// Who decides.
        #[arg(long)]
        operator: String,
        /// For other operators.
        #[arg(long)]
        reason: Option<String>,
    },
    /// Openings and closings, newest first.
    History {
        /// How many.
        #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=1_000))]
        limit: u32,
        /// One JSON object a line.
        #[arg(long)]
        json: bool,
    },
}

/// Arguments of `maintenance on`.
#[derive(Debug, Args)]
pub struct WindowArgs {
    /// Who decides.
    #[arg(long)]
    pub operator: String,
    /// For other operators, up to 200 characters.
    #[arg(long)]
    pub reason: Option<String>,
    /// For customers, up to 1000 characters; without it they read a built-in text.
    #[arg(long)]
    pub notice_ru: Option<String>,
    /// For customers, up to 1000 characters; without it they read a built-in text.
    #[arg(long)]
    pub notice_en: Option<String>,
    /// When it is expected to end, as 2026-12-01T06:00:00Z.
    #[arg(long, value_name = "TIME")]
    pub until: Option<DateTime<Utc>>,
}
