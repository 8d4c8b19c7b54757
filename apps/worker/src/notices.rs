//! The loop that tells operators. Every worker runs one; whose turn it is to send is settled in the database, so one of them does.

use std::time::Duration;

use service::notice_dispatch::NoticeDispatch;
use tokio_util::sync::CancellationToken;

/// From the end of one run to the start of the next.
pub const INTERVAL: Duration = Duration::from_secs(10);

/// Sends what is due, again and again, until told to stop. A notice that is being sent then is sent and recorded first.
pub async fn run(dispatch: &NoticeDispatch, stop: &CancellationToken) {
    while !stop.is_cancelled() {
        match dispatch.run_once(|| !stop.is_cancelled()).await {
            Ok(report) => tracing::debug!(?report, "notices"),
            Err(error) => tracing::warn!(code = error.code(), "notices to operators could not be sent"),
        }
        if let Err(error) = dispatch.observe().await {
            tracing::debug!(code = error.code(), "notices to operators could not be counted");
        }
        tokio::select! {
            () = stop.cancelled() => {}
            () = tokio::time::sleep(INTERVAL) => {}
        }
    }
}
