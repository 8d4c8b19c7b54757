//! Words of `entitlements …`.

use clap::{Args, Subcommand};

/// `entitlements …`
#[derive(Debug, Subcommand)]
pub enum EntitlementsCommand {
    /// One entitlement with its terms, its access, and what is under way.
    Show {
        /// Its id.
        id: uuid::Uuid,
        /// Print JSON instead of text.
        #[arg(long)]
        json: bool,
    },
    /// Open an operation: the change is recorded now, and a worker brings it to the panel.
    #[command(after_help = "\
Examples:
  omniflow entitlements change <id> extend --ends-at 2027-01-31T00:00:00Z --reason 'outage of 3 January'
  omniflow entitlements change <id> set_limits --traffic unlimited --devices 5 --reason 'ticket 812'
  omniflow entitlements change <id> set_squads --squad <uuid> --squad <uuid> --reason 'moved'
  omniflow entitlements change <id> disable --effective-at 2027-01-31T00:00:00Z --reason 'asked to'")]
    Change {
        /// Its id.
        id: uuid::Uuid,
        /// extend, set_limits, set_squads, enable, disable, reset_traffic or reconcile.
        operation: String,
        /// The new paid end (extend), strictly later than the present one.
        #[arg(long, value_name = "TIME")]
        ends_at: Option<chrono::DateTime<chrono::Utc>>,
        /// Bytes of traffic, or `unlimited` (set_limits).
        #[arg(long, value_name = "BYTES", value_parser = most::<i64>)]
        traffic: Option<Most<i64>>,
        /// Devices at once, or `unlimited` (set_limits).
        #[arg(long, value_name = "COUNT", value_parser = most::<i32>)]
        devices: Option<Most<i32>>,
        /// A squad of the whole new set (set_squads); repeat it.
        #[arg(long = "squad", value_name = "UUID")]
        squads: Vec<String>,
        /// The new set is empty (set_squads).
        #[arg(long, conflicts_with = "squads")]
        no_squads: bool,
        /// Not before this moment. Cancelling the operation until then drops the change.
        #[arg(long, value_name = "TIME")]
        effective_at: Option<chrono::DateTime<chrono::Utc>>,
        /// Why; kept for ever.
        #[arg(long)]
        reason: String,
        /// Who asks.
        #[arg(long, default_value = "cli")]
        operator: String,
        /// Print JSON instead of text.
        #[arg(long)]
        json: bool,
    },
    /// Shut access and stop the clock of the right.
    Pause(PauseArgs),
    /// End a pause: the time it took is added to the paid end, and access opens.
    Resume(PauseArgs),
}

/// Arguments of `entitlements pause` and `resume`.
#[derive(Debug, Args)]
pub struct PauseArgs {
    /// Its id.
    pub id: uuid::Uuid,
    /// Why; kept for ever.
    #[arg(long)]
    pub reason: String,
    /// Who asks.
    #[arg(long, default_value = "cli")]
    pub operator: String,
    /// Print JSON instead of text.
    #[arg(long)]
    pub json: bool,
}

/// A limit on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Most<T>(pub Option<T>);

fn most<T: std::str::FromStr>(text: &str) -> Result<Most<T>, String> {
    if text == "unlimited" {
        return Ok(Most(None));
    }
    let number = text.parse().map_err(|_| "a whole number, or `unlimited`".to_owned())?;
    Ok(Most(Some(number)))
}
