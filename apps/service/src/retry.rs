//! Running a use case again when another writer was faster.

use std::{future::Future, time::Duration};

use ports::ids::Ids;

use crate::Error;

/// How often a use case is run again after a conflict.
pub const MAX_RERUNS: u32 = 3;

/// First pause in milliseconds; it doubles, and a random part of up to its own length is added.
const FIRST_PAUSE_MS: u64 = 2;

/// Runs `attempt`, and again, at most [`MAX_RERUNS`] times, while it ends in a conflict or with an unknown commit.
///
/// `attempt` starts from the beginning each time and must use the same ids: a rerun of a commit that did succeed finds its own effect.
/// `ids` gives the randomness of the pauses, so that driven runs stay reproducible.
///
/// # Errors
/// The first error that is no conflict, or the last conflict.
pub async fn retry_on_conflict<T, Run>(ids: &dyn Ids, mut attempt: impl FnMut() -> Run) -> Result<T, Error>
where
    Run: Future<Output = Result<T, Error>>,
{
    let mut reruns = 0;
    loop {
        match attempt().await {
            Err(error) if error.is_conflict() && reruns < MAX_RERUNS => {
                metrics::counter!("omniflow_append_conflicts_total").increment(1);
                tokio::time::sleep(pause(reruns, ids)).await;
                reruns = reruns.saturating_add(1);
            }
            outcome => return outcome,
        }
    }
}

/// The pause before rerun number `reruns + 1`: between one and two times `2 ms · 2^reruns`.
fn pause(reruns: u32, ids: &dyn Ids) -> Duration {
    let base = FIRST_PAUSE_MS.saturating_mul(2_u64.saturating_pow(reruns));
    // The low 62 bits of a UUIDv7 are random.
    let (_, random) = ids.next().as_u64_pair();
    let jitter = random.checked_rem(base.saturating_mul(1_000)).unwrap_or_default();
    Duration::from_millis(base).saturating_add(Duration::from_micros(jitter))
}
