//! Words of `operations …`.

use clap::{Args, Subcommand};

/// `operations …`
#[derive(Debug, Subcommand)]
pub enum OperationsCommand {
    /// Operations, newest first; without --status the failed ones: the dead letters.
    List {
        /// pending, running, retrying, succeeded, failed, cancelled, or all.
        #[arg(long, default_value = "failed")]
        status: String,
        /// Only of this kind, such as create.
        #[arg(long)]
        operation: Option<String>,
        /// Only of this entitlement.
        #[arg(long)]
        entitlement: Option<uuid::Uuid>,
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
    /// One operation with the history of its attempts.
    Show {
        /// Its id.
        id: uuid::Uuid,
        /// Print JSON instead of text.
        #[arg(long)]
        json: bool,
    },
    /// Give a failed operation a new budget; its job is there at once.
    Retry(OperationChange),
    /// Give an operation up that has not succeeded. What it was to bring about is applied by the next reconcile.
    Cancel(OperationChange),
}

/// A person's change of an operation.
#[derive(Debug, Args)]
pub struct OperationChange {
    /// Its id.
    pub id: uuid::Uuid,
    /// Why; kept for ever.
    #[arg(long)]
    pub reason: String,
    /// Who decides.
    #[arg(long)]
    pub operator: String,
    /// Print JSON instead of text.
    #[arg(long)]
    pub json: bool,
}
