//! Words of `passes …`.

use clap::Subcommand;

use super::JsonArgs;

/// `passes …`
#[derive(Debug, Subcommand)]
pub enum PassesCommand {
    /// Every pass with its interval, its last run, and when it went well last. Exits 1 when a last run failed or was killed.
    List(JsonArgs),
    /// Run a pass now, in this process. Refused while another run of it is on; exits 1 when it fails.
    Run {
        /// As `passes list` names it.
        name: String,
        /// Print JSON instead of text.
        #[arg(long)]
        json: bool,
    },
}
