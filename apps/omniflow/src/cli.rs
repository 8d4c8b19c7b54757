//! The command line: names, help texts, exit codes.

mod audit;
mod chaos;
mod deliveries;
mod drifts;
mod entitlements;
mod health;
mod maintenance;
mod notices;
mod operations;
mod passes;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

pub use audit::{AuditCommand, AuditFilter};
pub use chaos::ChaosArgs;
pub use deliveries::{DeliveriesCommand, VerdictArg};
pub use drifts::DriftsCommand;
pub use entitlements::{EntitlementsCommand, PauseArgs};
pub use health::{HealthArgs, HealthOf};
pub use maintenance::{MaintenanceCommand, WindowArgs};
pub use notices::NoticesCommand;
pub use operations::{OperationChange, OperationsCommand};
pub use passes::PassesCommand;

/// Sell subscriptions on a Remnawave panel: orders, payments, access and digital goods, once each.
#[derive(Debug, Parser)]
#[command(name = "omniflow", version, max_term_width = 110, propagate_version = true)]
#[command(after_help = "\
Exit codes: 0 done · 1 the answer is no (a difference found, a check failed, an order lost) · 2 wrong usage or settings · 3 something it needs is not there.

Start here:
  omniflow up            everything in one process, on a private database, against simulators
  omniflow demo          the same on a throw-away database: sample orders to the end, then exit
  omniflow doctor        what is wrong with an installation")]
pub struct Cli {
    /// Read settings from this file too; real environment variables win.
    #[arg(long, global = true, value_name = "FILE")]
    pub env_file: Option<PathBuf>,
    /// Where private data is kept: the private database, generated keys, the simulators' journals.
    #[arg(long, global = true, value_name = "DIR", default_value = ".omniflow")]
    pub data_dir: PathBuf,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run everything in one process: database, simulators, API, worker. Prints `ready: <url>` when a first order was fulfilled.
    Up(UpArgs),
    /// Run sample orders to the end on a throw-away database and print what became of them.
    Demo(DemoArgs),
    /// Serve the HTTP API.
    Api,
    /// Run jobs, passes, the outbox publisher and the projections.
    Worker,
    /// Serve the simulators of panel, payment provider, goods gateway and Telegram, until stopped.
    Sandbox,
    /// The private database server, and migrations of any database.
    #[command(subcommand)]
    Db(DbCommand),
    /// Read the event log.
    #[command(subcommand)]
    Events(EventsCommand),
    /// Read models: list, rebuild, compare with the log.
    #[command(subcommand)]
    Projections(ProjectionsCommand),
    /// The outbox: what is not handed over yet, and what is blocked.
    #[command(subcommand)]
    Outbox(OutboxCommand),
    /// Jobs of the queue, dead letters among them.
    #[command(subcommand)]
    Jobs(JobsCommand),
    /// Fulfillment operations: what became of them, a new budget for a failed one, giving one up.
    #[command(subcommand)]
    Operations(OperationsCommand),
    /// The audit trail: who did what by hand.
    #[command(subcommand)]
    Audit(AuditCommand),
    /// Periodic passes: when each ran last and how it ended; run one now.
    #[command(subcommand)]
    Passes(PassesCommand),
    /// Digital goods deliveries: what is owed, what waits for a person, and what is decided about it.
    #[command(subcommand)]
    Deliveries(DeliveriesCommand),
    /// Entitlements: look at one, change it, pause it.
    #[command(subcommand)]
    Entitlements(EntitlementsCommand),
    /// Maintenance mode: nothing new is sold and nothing is written to the panel, while money on its way settles.
    #[command(subcommand)]
    Maintenance(MaintenanceCommand),
    /// Where the panel was seen to differ from what it must show.
    #[command(subcommand)]
    Drifts(DriftsCommand),
    /// What operators are told through Telegram: what waits, what failed, a trial.
    #[command(subcommand)]
    Notices(NoticesCommand),
    /// Settings.
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Check an installation and say what to do.
    Doctor(JsonArgs),
    /// Kill, stop and cut off the processes of a throw-away installation while orders flow, and count what was lost or doubled.
    Chaos(ChaosArgs),
    /// Ask a process on this host whether it is ready. Exits 1 when not.
    Health(HealthArgs),
    /// Measure the core against plain SQL doing the same work, on a throw-away database.
    Bench(BenchArgs),
    /// Print a completion script.
    Completions {
        /// For which shell.
        shell: clap_complete::Shell,
    },
    /// Print the manual page.
    Man,
}

/// `--json`.
#[derive(Clone, Copy, Debug, Args)]
pub struct JsonArgs {
    /// Print JSON instead of text.
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `up`.
#[derive(Debug, Args)]
pub struct UpArgs {
    /// Make the database a live installation: real providers by settings, no simulators.
    #[arg(long)]
    pub live: bool,
}

/// Arguments of `demo`.
#[derive(Debug, Args)]
pub struct DemoArgs {
    /// How many plan orders.
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(0..=100_000))]
    pub orders: u32,
    /// How many goods orders beside them.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(0..=100_000))]
    pub goods: u32,
    /// Print one JSON object as the last line.
    #[arg(long)]
    pub json: bool,
    /// Keep the database and the journals, and say where they are.
    #[arg(long)]
    pub keep: bool,
}

/// `db …`
#[derive(Debug, Subcommand)]
pub enum DbCommand {
    /// Start the private server of the data directory and leave it running.
    Up,
    /// Stop the private server of the data directory.
    Down,
    /// Bring a database to this version's schema, River's line included.
    Migrate {
        /// What the database is for; written once, at the first migration.
        #[arg(long, value_enum, default_value_t = ModeArg::Live)]
        mode: ModeArg,
    },
    /// Whether the server runs and every migration is applied.
    Status(JsonArgs),
}

/// What a database is for.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum ModeArg {
    /// Simulators only.
    Sandbox,
    /// Real providers.
    Live,
}

/// `events …`
#[derive(Debug, Subcommand)]
pub enum EventsCommand {
    /// The newest events, and with --follow those to come. Payloads stay hidden unless asked for.
    Tail {
        /// How many to begin with.
        #[arg(short = 'n', long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(0..=10_000))]
        count: u32,
        /// Go on with new events until stopped.
        #[arg(short, long)]
        follow: bool,
        /// Show payloads too.
        #[arg(long)]
        payload: bool,
        /// One JSON object a line.
        #[arg(long)]
        json: bool,
    },
    /// Every event of one stream, with the state of its chain of hashes.
    Show {
        /// `order`, `entitlement` or `delivery`.
        aggregate_type: String,
        /// The stream's id.
        id: uuid::Uuid,
        /// Show payloads too.
        #[arg(long)]
        payload: bool,
        /// One JSON object a line.
        #[arg(long)]
        json: bool,
    },
}

/// `projections …`
#[derive(Debug, Subcommand)]
pub enum ProjectionsCommand {
    /// Each projection with its position and lag.
    List(JsonArgs),
    /// Rebuild from the log while the system runs, then swap.
    Replay(ProjectionArgs),
    /// Rebuild beside the live tables and compare. Exits 1 and names each row that differs.
    Verify(ProjectionArgs),
}

/// Which projections.
#[derive(Debug, Args)]
pub struct ProjectionArgs {
    /// By name.
    #[arg(required_unless_present = "all", conflicts_with = "all")]
    pub name: Option<String>,
    /// Every one.
    #[arg(long)]
    pub all: bool,
    /// Print JSON instead of text and bars.
    #[arg(long)]
    pub json: bool,
}

/// `outbox …`
#[derive(Debug, Subcommand)]
pub enum OutboxCommand {
    /// How much waits, how old the oldest is, which streams are blocked.
    Status(JsonArgs),
    /// What waits, oldest first, without payloads.
    List {
        /// How many rows.
        #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=1_000))]
        limit: u32,
        /// Print JSON instead of text.
        #[arg(long)]
        json: bool,
    },
    /// Try a blocked stream again now.
    Retry {
        /// `<aggregate type>/<id>`, as `outbox status` shows it.
        stream: String,
    },
}

/// `jobs …`
#[derive(Debug, Subcommand)]
pub enum JobsCommand {
    /// Jobs of one state, newest first.
    List {
        /// dead_letter, retryable, running, available, scheduled or completed.
        #[arg(long, default_value = "dead_letter")]
        state: String,
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
    /// Every job that ended without success, newest first; kept after the queue has removed its own row.
    DeadLetters {
        /// Only of this kind of job.
        #[arg(long)]
        kind: Option<String>,
        /// Only what still waits for a person.
        #[arg(long)]
        open: bool,
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
    /// One job.
    Show {
        /// Its id.
        id: i64,
        /// Print JSON instead of text.
        #[arg(long)]
        json: bool,
    },
    /// Give a failed job a new budget.
    Retry(JobChange),
    /// Withdraw a job that waits.
    Cancel(JobChange),
}

/// A person's change of a job.
#[derive(Debug, Args)]
pub struct JobChange {
    /// Its id.
    pub id: i64,
    /// Why; kept for ever.
    #[arg(long)]
    pub reason: Option<String>,
    /// Who decides.
    #[arg(long, default_value = "cli")]
    pub operator: String,
}

/// `config …`
#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Whether the settings can be used, without secrets. Exits 2 when not.
    Check(JsonArgs),
    /// The text of .env.example.
    EnvExample,
}

/// Arguments of `bench`.
#[derive(Debug, Args)]
pub struct BenchArgs {
    /// What to measure.
    #[arg(long, value_enum, required = true, num_args = 1.., value_delimiter = ',')]
    pub scenario: Vec<Scenario>,
    /// Interleaved rounds; the median is reported.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub rounds: u32,
    /// Seconds a round.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=600))]
    pub seconds: u32,
    /// Tasks at once.
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=64))]
    pub tasks: u32,
    /// Events a second, where the scenario offers load instead of taking what it gets.
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=5_000))]
    pub per_second: u32,
    /// Events in the log, for replay and rebuild.
    #[arg(long, default_value_t = 200_000, value_parser = clap::value_parser!(u32).range(1_000..=20_000_000))]
    pub events: u32,
    /// Rows to remove of each table, for retention.
    #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(u32).range(1_000..=20_000_000))]
    pub rows: u32,
    /// Print one JSON object a scenario.
    #[arg(long)]
    pub json: bool,
}

/// What to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Scenario {
    /// One event, appended to a stream.
    Append,
    /// A settlement: two streams, outbox, operation row, stored answer.
    Settle,
    /// Outbox rows to jobs.
    Publish,
    /// From a command's commit to the start of its job, in another process.
    Latency,
    /// Reading the log in order as typed events.
    Replay,
    /// Building a read model from the log.
    Rebuild,
    /// Removing rows that nobody needs any more; always one JSON object.
    Retention,
    /// Jobs that do nothing, through our worker's wiring and through River's client alone.
    Jobs,
    /// Paid orders, worked off by one worker process against the simulated panel.
    Fulfillment,
    /// A backlog of 100,000 outbox rows, and the memory it takes.
    Drain,
    /// The other process of `latency`, which starts it itself.
    #[value(hide = true)]
    LatencyWorker,
}
