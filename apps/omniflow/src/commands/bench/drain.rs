//! `drain`: how long a great backlog of the outbox takes to become jobs, and what it does to the publisher's memory.

use std::{
    fmt,
    time::{Duration, Instant},
};

use projectors::publisher::{Publisher, standard};
use serde::Serialize;
use sqlx::PgPool;
use tokio_util::sync::CancellationToken;

use super::{Ground, report::rounded};
use crate::failure::Failure;

/// Rows of the backlog.
const ROWS: i32 = 100_000;
/// Streams they are spread over.
const STREAMS: i32 = 10_000;

/// What one drain took.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Drained {
    scenario: &'static str,
    rows: i32,
    seconds: f64,
    rate: f64,
    /// Resident memory of this process before, and at its highest meanwhile; absent where the system does not tell.
    resident_mb_before: Option<f64>,
    resident_mb_peak: Option<f64>,
}

/// Fills the outbox and drains it through the real publisher.
pub(crate) async fn run(ground: &Ground) -> Result<Drained, Failure> {
    let owner = PgPool::connect(ground.url()).await?;
    sqlx::query(
        "insert into outbox (topic, stream, payload)
         select 'entitlement.operation_opened', 'entitlement/' || n % $2, jsonb_build_object('operationId', gen_random_uuid())
           from generate_series(1, $1) n",
    )
    .bind(ROWS)
    .bind(STREAMS)
    .execute(&owner)
    .await?;
    let before = resident_mb();
    let (mut peak, began, shutdown) = (before, Instant::now(), CancellationToken::new());
    let publisher = tokio::spawn(Publisher::new(ground.options(1), standard()).run(shutdown.clone()));
    let waiting = "select exists (select from outbox where published_at is null order by id desc limit 1)";
    while sqlx::query_scalar(waiting).fetch_one(&owner).await? {
        peak = peak.zip(resident_mb()).map(|(peak, now)| peak.max(now));
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let took = began.elapsed().as_secs_f64();
    shutdown.cancel();
    publisher.await.map_err(Failure::unavailable)?;
    Ok(Drained {
        scenario: "drain",
        rows: ROWS,
        seconds: rounded(took),
        rate: rounded(f64::from(ROWS) / took),
        resident_mb_before: before,
        resident_mb_peak: peak,
    })
}

/// As Linux tells it.
fn resident_mb() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: f64 = line.split_whitespace().next()?.parse().ok()?;
    Some(rounded(kilobytes / 1_024.0))
}

impl fmt::Display for Drained {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "drain: {} rows in {} s, {:.0} rows/s",
            self.rows, self.seconds, self.rate
        )?;
        match self.resident_mb_before.zip(self.resident_mb_peak) {
            Some((before, peak)) => write!(f, " · resident {before} MB before, {peak} MB at most"),
            None => Ok(()),
        }
    }
}
