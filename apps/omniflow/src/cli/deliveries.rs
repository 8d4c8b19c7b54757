//! Words of `deliveries …`.

use clap::{Subcommand, ValueEnum};

/// `deliveries …`
#[derive(Debug, Subcommand)]
pub enum DeliveriesCommand {
    /// Deliveries, newest order first.
    List {
        /// needs_review, refund_owed (ended without goods), owed, submitting, accepted, retry_wait, delivered, failed or cancelled.
        #[arg(long, default_value = "needs_review")]
        state: String,
        /// How many.
        #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=200))]
        limit: u32,
        /// Only orders before this one: the last of the page before.
        #[arg(long)]
        before: Option<uuid::Uuid>,
        /// Print JSON instead of text.
        #[arg(long)]
        json: bool,
    },
    /// One delivery with everything that happened to it.
    Show {
        /// The goods order.
        order_id: uuid::Uuid,
        /// Print JSON instead of text.
        #[arg(long)]
        json: bool,
    },
    /// Withdraw a delivery of which surely nothing was bought: the price is owed back.
    Cancel {
        /// The goods order.
        order_id: uuid::Uuid,
        /// Why; kept for ever.
        #[arg(long)]
        reason: String,
        /// Who decides.
        #[arg(long)]
        operator: String,
    },
    /// Settle a parked delivery: a person found out whether the goods arrived.
    Resolve {
        /// The goods order.
        order_id: uuid::Uuid,
        /// What was found out.
        #[arg(long, value_enum)]
        verdict: VerdictArg,
        /// Why it is certain; kept for ever.
        #[arg(long)]
        reason: String,
        /// Who decides.
        #[arg(long)]
        operator: String,
    },
}

/// What a person found out.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum VerdictArg {
    /// The customer has the goods.
    Delivered,
    /// The customer has nothing: the price is owed back.
    NotDelivered,
}
