//! What is told of a job's attempt: its span, its count, its durations.

use std::{future::Future, time::Instant};

use ports::trace;
use queue::{Failure, Outcome, Run};
use tracing::{Instrument as _, Span, field::Empty};
use uuid::Uuid;

/// What an attempt is about, for its span.
#[derive(Clone, Copy)]
pub(crate) enum About<'a> {
    Operation(Uuid),
    Order(Uuid),
    Pass(&'a str),
}

/// Runs one attempt inside a span of the trace that set it off, and meters it.
pub(crate) async fn metered(
    kind: &'static str,
    run: &Run,
    about: About<'_>,
    attempt: impl Future<Output = Result<Outcome, Failure>>,
) -> Result<Outcome, Failure> {
    let span = span(kind, run, about);
    let parent = run
        .surroundings
        .traceparent
        .as_deref()
        .and_then(|text| text.parse().ok());
    let inside = telemetry::adopt(&span, parent, None);
    metrics::histogram!("omniflow_job_wait_seconds", "kind" => kind).record(run.surroundings.waited);

    let mut count = Count {
        kind,
        started: Instant::now(),
        // What is true when it is dropped before its end: it panicked, or was aborted.
        outcome: "failed",
    };
    let ended = trace::within(inside, attempt).instrument(span.clone()).await;
    count.outcome = name(&ended);
    if let Err(Failure::Retry { code, .. } | Failure::Cancel { code }) = &ended {
        span.record("otel.status_code", "ERROR");
        span.record("error.type", code);
    }
    span.record("outcome", count.outcome);
    ended
}

fn span(kind: &'static str, run: &Run, about: About<'_>) -> Span {
    let span = tracing::info_span!(
        "job.work",
        otel.kind = "consumer",
        otel.name = format!("job {kind}"),
        otel.status_code = Empty,
        error.type = Empty,
        messaging.system = "river",
        queue = run.surroundings.queue,
        job_id = run.job_id,
        kind,
        job_attempt = run.attempt,
        outcome = Empty,
        operation_id = Empty,
        order_id = Empty,
        task = Empty,
        correlation_id = run.surroundings.correlation_id,
        trace_id = Empty,
    );
    match about {
        About::Operation(id) => span.record("operation_id", tracing::field::display(id)),
        About::Order(id) => span.record("order_id", tracing::field::display(id)),
        About::Pass(name) => span.record("task", name),
    };
    span
}

const fn name(ended: &Result<Outcome, Failure>) -> &'static str {
    match ended {
        Ok(Outcome::Done) => "succeeded",
        Ok(Outcome::Snooze(_)) => "snoozed",
        Err(Failure::Retry { .. }) => "failed",
        Err(Failure::Cancel { .. }) => "cancelled",
        Err(Failure::Interrupted) => "interrupted",
    }
}

/// Counts when it is dropped, so that no attempt goes uncounted.
struct Count {
    kind: &'static str,
    started: Instant,
    outcome: &'static str,
}

impl Drop for Count {
    fn drop(&mut self) {
        metrics::counter!("omniflow_jobs_total", "kind" => self.kind, "outcome" => self.outcome).increment(1);
        metrics::histogram!("omniflow_job_duration_seconds", "kind" => self.kind).record(self.started.elapsed());
    }
}
