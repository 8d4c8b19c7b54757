//! Arguments of `chaos`.

use clap::Args;

/// Arguments of `chaos`. What is not given follows the number of kills.
#[derive(Clone, Debug, Args)]
pub struct ChaosArgs {
    /// How many plan orders.
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub orders: u32,
    /// How many goods orders beside them; a tenth of the plan orders when not given.
    #[arg(long, value_parser = clap::value_parser!(u32).range(0..=100_000))]
    pub goods: Option<u32>,
    /// SIGKILLs of workers and APIs.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(0..=10_000))]
    pub kills: u32,
    /// SIGSTOPs of a worker for longer than the rescue window, and as many of an API for seconds.
    #[arg(long, value_parser = clap::value_parser!(u32).range(0..=1_000))]
    pub pauses: Option<u32>,
    /// SIGTERMs of workers and APIs.
    #[arg(long, value_parser = clap::value_parser!(u32).range(0..=1_000))]
    pub stops: Option<u32>,
    /// SIGKILLs of the database server.
    #[arg(long, value_parser = clap::value_parser!(u32).range(0..=1_000))]
    pub server_kills: Option<u32>,
    /// Times that every connection to the database is cut.
    #[arg(long, value_parser = clap::value_parser!(u32).range(0..=10_000))]
    pub cuts: Option<u32>,
    /// Commits whose answer never arrives.
    #[arg(long, value_parser = clap::value_parser!(u32).range(0..=10_000))]
    pub lost_acks: Option<u32>,
    /// Instead of a storm: so many SIGKILLs of a worker in each window of a goods submission, before and after the gateway delivered.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=10_000), conflicts_with_all = ["orders", "goods", "kills", "seed"])]
    pub goods_windows: Option<u32>,
    /// The panel answers as it should all the time.
    #[arg(long)]
    pub calm_panel: bool,
    /// Play the storm of this seed again; drawn when not given.
    #[arg(long)]
    pub seed: Option<u64>,
    /// Print one JSON object as the last line.
    #[arg(long)]
    pub json: bool,
    /// Keep database, logs and journals, and say where they are.
    #[arg(long)]
    pub keep: bool,
}
