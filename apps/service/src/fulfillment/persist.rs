//! Recording what was done to the outside world: it happened, so it is tried until time is up, and nothing is called again for it.

use std::{future::Future, time::Duration};

use tokio::time::Instant;

use super::Fault;

const FIRST_PAUSE: Duration = Duration::from_millis(20);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// Runs `record` until it succeeds, fails for good, or `until` has passed.
pub(crate) async fn persist<T, Run>(until: Instant, mut record: impl FnMut() -> Run) -> Result<T, Fault>
where
    Run: Future<Output = Result<T, Fault>>,
{
    let mut pause = FIRST_PAUSE;
    loop {
        match record().await {
            Err(fault) if fault.is_passing() && Instant::now() + pause < until => {
                tracing::warn!(code = fault.code(), "a record is tried again");
                tokio::time::sleep(pause).await;
                pause = pause.saturating_mul(2).min(LONGEST_PAUSE);
            }
            outcome => return outcome,
        }
    }
}
