//! Two sides of a comparison, taken in turns: never all of one and then all of the other.

use std::{
    future::Future,
    sync::Arc,
    time::{Duration, Instant},
};

use hdrhistogram::Histogram;

use super::report::{Report, Round, Rounds};
use crate::failure::Failure;

/// One way to do the work.
pub(crate) trait Side: Send + Sync + 'static {
    /// What one of the concurrent tasks keeps between its steps.
    type Task: Send + 'static;

    /// Makes ready what a round uses up. Not measured.
    fn prepare(&self) -> impl Future<Output = Result<(), Failure>> + Send {
        std::future::ready(Ok(()))
    }

    /// A new task.
    fn task(&self) -> Self::Task;

    /// One step: how many units it did; 0 when nothing is left to do.
    fn step(&self, task: &mut Self::Task) -> impl Future<Output = Result<u64, Failure>> + Send;
}

/// How a comparison is run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    /// Rounds; each holds both sides.
    pub(crate) rounds: u32,
    /// Of one side in one round.
    pub(crate) span: Duration,
    /// At once.
    pub(crate) tasks: u32,
}

/// What is compared.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Subject {
    /// Name on the command line.
    pub(crate) scenario: &'static str,
    /// What is counted.
    pub(crate) unit: &'static str,
    /// What plain SQL does.
    pub(crate) raw_is: &'static str,
}

/// Runs both sides in turns, after a short warm-up of each; which one comes first changes with every round.
pub(crate) async fn compare<A: Side, B: Side>(
    subject: Subject,
    ours: &Arc<A>,
    raw: &Arc<B>,
    shape: Shape,
) -> Result<Report, Failure> {
    let warm_up = Shape {
        span: Duration::from_millis(500),
        ..shape
    };
    ours.prepare().await?;
    raw.prepare().await?;
    drive(ours, warm_up).await?;
    drive(raw, warm_up).await?;

    let mut sides = (
        Rounds::new().map_err(Failure::unavailable)?,
        Rounds::new().map_err(Failure::unavailable)?,
    );
    for round in 0..shape.rounds {
        ours.prepare().await?;
        raw.prepare().await?;
        if round % 2 == 0 {
            sides.0.push(&drive(ours, shape).await?);
            sides.1.push(&drive(raw, shape).await?);
        } else {
            sides.1.push(&drive(raw, shape).await?);
            sides.0.push(&drive(ours, shape).await?);
        }
    }
    Ok(Report::of(
        subject.scenario,
        subject.unit,
        subject.raw_is,
        shape.tasks,
        (&sides.0, &sides.1),
    ))
}

/// Runs one side for a while.
pub(crate) async fn drive<S: Side>(side: &Arc<S>, shape: Shape) -> Result<Round, Failure> {
    let start = Instant::now();
    let running: Vec<_> = (0..shape.tasks)
        .map(|_| {
            let side = Arc::clone(side);
            tokio::spawn(async move { one_task(&*side, start, shape.span).await })
        })
        .collect();
    let mut latencies = Histogram::new(3).map_err(Failure::unavailable)?;
    let mut units = 0_u64;
    for task in running {
        let (done, measured) = task.await.map_err(Failure::unavailable)??;
        units = units.saturating_add(done);
        latencies.add(measured).map_err(Failure::unavailable)?;
    }
    #[expect(
        clippy::cast_precision_loss,
        clippy::as_conversions,
        reason = "units of a round are few"
    )]
    let rate = units as f64 / start.elapsed().as_secs_f64();
    Ok(Round { rate, latencies })
}

async fn one_task<S: Side>(side: &S, start: Instant, span: Duration) -> Result<(u64, Histogram<u64>), Failure> {
    let mut latencies = Histogram::<u64>::new(3).map_err(Failure::unavailable)?;
    let mut units = 0_u64;
    let mut task = side.task();
    while start.elapsed() < span {
        let begun = Instant::now();
        let done = side.step(&mut task).await?;
        if done == 0 {
            break;
        }
        units = units.saturating_add(done);
        let micros = u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX);
        latencies.record(micros).map_err(Failure::unavailable)?;
    }
    Ok((units, latencies))
}
