//! `latency`: from before a command's commit to the start of its job in another process, as many a second as asked for.
//!
//! Both sides are ours: with the hint after the commit, and by polling alone. What is measured begins before the command's statement is sent,
//! so its commit is in it.

use std::{
    collections::HashMap,
    process::Stdio,
    time::{Duration, Instant},
};

use domain::{entitlement::Entitlement, ids::OperationId};
use hdrhistogram::Histogram;
use ports::ids::{Ids as _, SystemIds};
use store::{Hinter, Store, StreamId};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    process::{Child, ChildStdout, Command},
    task::JoinHandle,
};
use uuid::Uuid;

use super::{
    Ground, Report, Shape,
    latency_worker::{READY, now_micros},
    report::{Round, Rounds},
    seed::{Case, metadata},
};
use crate::failure::Failure;

/// How long a job that is late is waited for.
const LATE: Duration = Duration::from_secs(10);
/// Commands at the start that find cold caches and plans.
const COLD: u32 = 20;

/// Runs the scenario.
pub(crate) async fn run(ground: &Ground, shape: Shape, per_second: u32) -> Result<Report, Failure> {
    let pool = ground.command_pool(2).await?;
    let hinted = Store::new(pool.clone()).with_hinter(Hinter::start(&ground.options(1))?);
    let polled = Store::new(pool);
    let worker = OtherProcess::start(ground.url()).await?;
    let mut worker = worker;
    let mut sides = (
        Rounds::new().map_err(Failure::unavailable)?,
        Rounds::new().map_err(Failure::unavailable)?,
    );
    offer(&hinted, &mut worker, COLD, per_second).await?;
    let commands = per_second
        .saturating_mul(u32::try_from(shape.span.as_secs()).unwrap_or(1))
        .max(1);
    for round in 0..shape.rounds {
        // In turns; which one comes first changes with every round.
        if round % 2 == 0 {
            sides.0.push(&offer(&hinted, &mut worker, commands, per_second).await?);
            sides.1.push(&offer(&polled, &mut worker, commands, per_second).await?);
        } else {
            sides.1.push(&offer(&polled, &mut worker, commands, per_second).await?);
            sides.0.push(&offer(&hinted, &mut worker, commands, per_second).await?);
        }
    }
    worker.stop().await?;
    Ok(Report::of(
        "latency",
        "command",
        "the same without the hint after the commit: polling alone",
        1,
        (&sides.0, &sides.1),
    ))
}

/// Sends commands evenly and waits until all of their jobs have started.
async fn offer(store: &Store, worker: &mut OtherProcess, commands: u32, per_second: u32) -> Result<Round, Failure> {
    let gap = Duration::from_secs(1) / per_second.max(1);
    let start = Instant::now();
    let mut sent = HashMap::new();
    for n in 0..commands {
        tokio::time::sleep_until((start + gap * n).into()).await;
        let (operation, at) = command(store).await?;
        sent.insert(operation, at);
    }
    let mut latencies = Histogram::<u64>::new(3).map_err(Failure::unavailable)?;
    while !sent.is_empty() {
        let (operation, started) = worker.next().await?;
        if let Some(at) = sent.remove(&operation) {
            latencies
                .record(started.saturating_sub(at))
                .map_err(Failure::unavailable)?;
        }
    }
    let rate = f64::from(commands) / start.elapsed().as_secs_f64();
    Ok(Round { rate, latencies })
}

/// One entitlement granted: two events and an outbox row.
async fn command(store: &Store) -> Result<(Uuid, u64), Failure> {
    let case = Case::new();
    let operation_id = OperationId::new(SystemIds.next());
    let at = now_micros();
    let mut work = store
        .load(&[StreamId::of::<Entitlement>(case.entitlement)], metadata())
        .await?;
    work.execute::<Entitlement>(case.entitlement, case.grant(operation_id))
        .map_err(Failure::unavailable)?;
    work.commit().await?;
    Ok((operation_id.as_uuid(), at))
}

/// This program again, as a process that only works.
struct OtherProcess {
    child: Child,
    starts: tokio::sync::mpsc::UnboundedReceiver<(Uuid, u64)>,
    reading: JoinHandle<()>,
}

impl OtherProcess {
    async fn start(url: &str) -> Result<Self, Failure> {
        let mut child = Command::new(std::env::current_exe()?)
            .args(["bench", "--scenario", "latency-worker"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let gone = || Failure::unavailable("the other process did not start");
        // The address holds a password: not an argument, which everybody on the machine can read.
        let mut stdin = child.stdin.take().ok_or_else(gone)?;
        stdin.write_all(format!("{url}\n").as_bytes()).await?;
        child.stdin = Some(stdin);
        let mut lines = BufReader::new(child.stdout.take().ok_or_else(gone)?).lines();
        while lines.next_line().await?.ok_or_else(gone)? != READY {}
        let (sender, starts) = tokio::sync::mpsc::unbounded_channel();
        let reading = tokio::spawn(read(lines, sender));
        Ok(Self { child, starts, reading })
    }

    async fn next(&mut self) -> Result<(Uuid, u64), Failure> {
        let next = tokio::time::timeout(LATE, self.starts.recv()).await;
        next.ok()
            .flatten()
            .ok_or_else(|| Failure::unavailable("a job did not start within ten seconds"))
    }

    /// Ends when its input does.
    async fn stop(mut self) -> Result<(), Failure> {
        drop(self.child.stdin.take());
        self.child.wait().await?;
        self.reading.await.map_err(Failure::unavailable)
    }
}

async fn read(
    mut lines: tokio::io::Lines<BufReader<ChildStdout>>,
    sender: tokio::sync::mpsc::UnboundedSender<(Uuid, u64)>,
) {
    while let Ok(Some(line)) = lines.next_line().await {
        let parsed = line
            .split_once(' ')
            .and_then(|(id, at)| Some((id.parse().ok()?, at.parse().ok()?)));
        if let Some(start) = parsed {
            // Nobody waits any more: the run was given up.
            sender.send(start).ok();
        }
    }
}
