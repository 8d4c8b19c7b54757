//! The other process of `latency`: publisher and worker, saying on standard output when each job starts.

use std::{process::ExitCode, time::Duration};

use projectors::publisher::{Publisher, standard};
use queue::{FulfillmentArgs, Handler, Handlers, Outcome, QueueSizes, Run, Running, Timing, WorkerOptions};
use store::{PoolOptions, general_pool};
use tokio_util::sync::CancellationToken;

use crate::{commands::say, failure::Failure};

/// Said once jobs are fetched.
pub(crate) const READY: &str = "ready";

/// The machine's clock, which both processes read. Only differences of it are used.
#[expect(
    clippy::disallowed_methods,
    reason = "two processes have no other clock in common, and nothing is decided by it"
)]
pub(crate) fn now_micros() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |since| u64::try_from(since.as_micros()).unwrap_or(u64::MAX))
}

/// Works until its standard input ends; the first line of it is the database's address.
pub(crate) async fn run() -> Result<ExitCode, Failure> {
    let mut url = String::new();
    std::io::stdin().read_line(&mut url)?;
    let url = url.trim_end().to_owned();
    let options = PoolOptions {
        url,
        size: 12,
        process: "bench-worker",
    };
    let shutdown = CancellationToken::new();
    let publishing = tokio::spawn(Publisher::new(options.clone(), standard()).run(shutdown.clone()));
    let mut handlers = Handlers::new();
    handlers.add::<FulfillmentArgs, _>(Say).map_err(Failure::unavailable)?;
    let worker = WorkerOptions {
        id: "bench".to_owned(),
        pool: general_pool(&options).await?,
        sizes: QueueSizes::default(),
        timing: Timing::default(),
        grace: Duration::from_secs(1),
        passes: Vec::new(),
    };
    let mut running = Running::start(worker, handlers).map_err(Failure::unavailable)?;
    running.ready().await.map_err(Failure::unavailable)?;
    say(READY);
    tokio::task::spawn_blocking(|| std::io::stdin().lines().map_while(Result::ok).for_each(drop))
        .await
        .map_err(Failure::unavailable)?;
    shutdown.cancel();
    running.stop().await.map_err(Failure::unavailable)?;
    publishing.await.map_err(Failure::unavailable)?;
    Ok(ExitCode::SUCCESS)
}

/// A job that says when it starts and is done.
struct Say;

impl Handler<FulfillmentArgs> for Say {
    fn retry_delay(&self, _attempt: i32) -> Duration {
        Duration::ZERO
    }

    async fn run(&self, _run: Run, args: FulfillmentArgs) -> Result<Outcome, queue::Failure> {
        say(&format!("{} {}", args.operation_id, now_micros()));
        Ok(Outcome::Done)
    }
}
