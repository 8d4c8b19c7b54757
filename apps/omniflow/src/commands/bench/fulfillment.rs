//! `fulfillment`: a backlog of paid orders, worked off by one worker process against the simulated panel: claim, look-up, creation, record, job.

use std::{collections::BTreeMap, fmt, path::Path};

use serde::Serialize;

use super::report::rounded;
use crate::{
    chaos::{self, Site},
    failure::Failure,
};

/// Paid orders of the backlog.
const ORDERS: u32 = 2_000;

/// How fast a worker went through it.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Fulfilled {
    scenario: &'static str,
    orders: u32,
    /// From the first order fulfilled to the last.
    seconds: f64,
    rate: f64,
}

/// Pays for the orders while no worker runs, starts one, and reads from the log when each was fulfilled.
pub(crate) async fn run(folder: &Path, server: BTreeMap<String, String>) -> Result<Fulfilled, Failure> {
    let site = Site {
        binary: std::env::current_exe()?,
        folder: folder.join("fulfillment"),
        server,
        keep: false,
    };
    let span = chaos::backlog(ORDERS, &site).await?;
    Ok(Fulfilled {
        scenario: "fulfillment",
        orders: ORDERS,
        seconds: rounded(span.as_secs_f64()),
        rate: rounded(f64::from(ORDERS) / span.as_secs_f64()),
    })
}

impl fmt::Display for Fulfilled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "fulfillment: {} orders in {} s, {:.0} orders/s through one worker against the simulated panel",
            self.orders, self.seconds, self.rate
        )
    }
}
