//! One run of one pass, whoever asked for it: begun once, kept alive, bounded in time, recorded.

use std::{
    panic::AssertUnwindSafe,
    time::{Duration, Instant},
};

use futures_util::FutureExt as _;
use service::passes::{Begun, LEASE, PassRun, Wanted};

use super::{Ended, Entry, PassParts};

/// How often a run says that it is alive.
const BEAT: Duration = Duration::from_secs(LEASE.as_secs() / 3);

/// Who asks for a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asked {
    /// The queue's job, when one is due.
    ByJob(i64),
    /// A person, now.
    ByPerson,
}

/// What became of it.
#[derive(Clone, Debug, PartialEq)]
pub enum Ran {
    /// The last run began a short while ago and did not fail.
    NotDue,
    /// Another run is on.
    Busy {
        /// Since then.
        since: domain::time::Timestamp,
        /// Names its process.
        runner: String,
    },
    /// It ran: its figures, or the code of its failure.
    Ended(Ended),
    /// It was cut off by `stopped`.
    Interrupted,
}

/// Runs a pass unless another run of it is on, or none is due. `stopped` ends it early.
///
/// # Errors
/// The code of a failure to begin: nothing was run.
pub async fn run(
    parts: &PassParts,
    entry: &Entry,
    asked: &Asked,
    stopped: impl Future<Output = ()> + Send,
) -> Result<Ran, String> {
    let (every, job_id) = match asked {
        Asked::ByJob(id) => (Some(entry.interval), Some(*id)),
        Asked::ByPerson => (None, None),
    };
    let wanted = Wanted {
        task: entry.name,
        every,
        runner: &parts.runner,
        job_id,
    };
    let begun = parts.service.begin_pass(wanted).await;
    let run = match begun.map_err(|fault| fault.code().to_owned())? {
        Begun::Run(run) => run,
        Begun::NotDue => {
            count(entry.name, "skipped");
            return Ok(Ran::NotDue);
        }
        Begun::Busy { since, runner } => {
            count(entry.name, "skipped");
            return Ok(Ran::Busy { since, runner });
        }
    };
    let started = Instant::now();
    let ended = tokio::select! {
        biased;
        ended = bounded(entry, parts) => ended,
        () = overtaken(parts, entry, &run) => Err("run_overtaken".to_owned()),
        () = stopped => {
            noted(entry, parts.service.interrupt_pass(&run).await);
            count(entry.name, "interrupted");
            return Ok(Ran::Interrupted);
        }
    };
    let outcome = ended.as_ref().map(|report| &report.figures).map_err(String::as_str);
    noted(entry, parts.service.end_pass(&run, outcome).await);
    meter(&run, started.elapsed(), &ended);
    if let Err(code) = &ended {
        tracing::error!(task = entry.name, code, "periodic task failed");
    }
    Ok(Ran::Ended(ended))
}

async fn bounded(entry: &Entry, parts: &PassParts) -> Ended {
    match tokio::time::timeout(entry.timeout, AssertUnwindSafe((entry.run)(parts)).catch_unwind()).await {
        Ok(Ok(ended)) => ended,
        Ok(Err(_)) => Err("pass_panicked".to_owned()),
        Err(_) => Err("pass_timed_out".to_owned()),
    }
}

/// Keeps the run alive; ends when somebody took it to be killed. A database that does not answer for a while is no reason to stop: nobody
/// else can begin a run meanwhile either.
async fn overtaken(parts: &PassParts, entry: &Entry, run: &PassRun) {
    loop {
        tokio::time::sleep(BEAT).await;
        match parts.service.beat_pass(run).await {
            Ok(true) => {}
            Ok(false) => return,
            Err(fault) => tracing::warn!(
                task = entry.name,
                code = fault.code(),
                "a pass could not say that it is alive"
            ),
        }
    }
}

fn noted(entry: &Entry, recorded: Result<(), service::fulfillment::Fault>) {
    if let Err(fault) = recorded {
        tracing::warn!(
            task = entry.name,
            code = fault.code(),
            "the end of a pass was not recorded"
        );
    }
}

fn count(task: &'static str, outcome: &'static str) {
    metrics::counter!("omniflow_pass_runs_total", "task" => task, "outcome" => outcome).increment(1);
}

fn meter(run: &PassRun, span: Duration, ended: &Ended) {
    count(run.task(), if ended.is_ok() { "succeeded" } else { "failed" });
    metrics::histogram!("omniflow_pass_duration_seconds", "task" => run.task()).record(span.as_secs_f64());
    let Ok(report) = ended else {
        return;
    };
    let begun = run.started_at().timestamp();
    metrics::gauge!("omniflow_pass_last_success_timestamp_seconds", "task" => run.task()).set(unix_seconds(begun));
    for (step, rows) in &report.rows {
        metrics::counter!("omniflow_pass_rows_total", "task" => run.task(), "step" => step.clone()).increment(*rows);
    }
}

/// Exact for any year that has four digits.
#[expect(clippy::cast_precision_loss, clippy::as_conversions, reason = "a gauge is a float")]
pub(crate) const fn unix_seconds(seconds: i64) -> f64 {
    seconds as f64
}
