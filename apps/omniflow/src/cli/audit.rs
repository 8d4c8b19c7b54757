//! Words of `audit …`.

use clap::{Args, Subcommand};

/// `audit …`
#[derive(Debug, Subcommand)]
pub enum AuditCommand {
    /// Records, newest first.
    List {
        /// Which records.
        #[command(flatten)]
        filter: AuditFilter,
        /// How many.
        #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=200))]
        limit: u32,
        /// Where the page before ended, as it said.
        #[arg(long)]
        cursor: Option<String>,
        /// Print JSON instead of text.
        #[arg(long)]
        json: bool,
    },
    /// At most 10 000 records as CSV, safe to open in a spreadsheet. That somebody took them out is a record, too.
    Export {
        /// Which records.
        #[command(flatten)]
        filter: AuditFilter,
        /// Who takes them out.
        #[arg(long)]
        operator: String,
    },
}

/// Which records of the audit trail.
#[derive(Debug, Args)]
pub struct AuditFilter {
    /// authentication, authorization, configuration, customer, financial, support, marketing, system or risk.
    #[arg(long)]
    pub category: Option<String>,
    /// success, failure or denied.
    #[arg(long)]
    pub outcome: Option<String>,
    /// Name of the token, the person or the program.
    #[arg(long)]
    pub actor: Option<String>,
    /// Such as panel.fulfillment.retried.
    #[arg(long)]
    pub action: Option<String>,
    /// Id of what was acted upon.
    #[arg(long)]
    pub target: Option<String>,
    /// Not before (RFC 3339).
    #[arg(long)]
    pub from: Option<chrono::DateTime<chrono::Utc>>,
    /// Before, not at (RFC 3339).
    #[arg(long)]
    pub to: Option<chrono::DateTime<chrono::Utc>>,
    /// Oldest first.
    #[arg(long)]
    pub ascending: bool,
}
