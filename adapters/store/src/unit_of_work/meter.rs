//! What is told of a commit: its span, its duration, its events.

use std::time::Instant;

use tracing::Span;

use super::work::Work;
use crate::StoreError;

/// One commit under way.
pub(super) struct Meter {
    started: Instant,
    span: Span,
}

impl Meter {
    pub(super) fn start(work: &Work) -> Self {
        let buffer = &work.buffer;
        let span = tracing::info_span!(
            "events.append",
            otel.kind = "client",
            otel.status_code = tracing::field::Empty,
            db.system.name = "postgresql",
            events = buffer.events.len(),
            outbox_rows = buffer.outbox.len(),
            first_event = buffer.events.first().map(|event| event.event_type.as_str()),
        );
        Self {
            started: Instant::now(),
            span,
        }
    }

    pub(super) fn span(&self) -> Span {
        self.span.clone()
    }

    /// A commit whose answer was lost counts as failed: nobody knows, and the rerun finds out.
    pub(super) fn ended(self, work: &Work, error: Option<&StoreError>) {
        let outcome = match error {
            None => "committed",
            Some(StoreError::Conflict) => "conflict",
            Some(_) => "failed",
        };
        if error.is_some() {
            self.span.record("otel.status_code", "ERROR");
        }
        metrics::histogram!("omniflow_append_duration_seconds", "outcome" => outcome).record(self.started.elapsed());
        if error.is_none() {
            for event in &work.buffer.events {
                metrics::counter!(
                    "omniflow_events_appended_total",
                    "aggregate" => event.aggregate_type,
                    "type" => event.event_type.clone(),
                )
                .increment(1);
            }
        }
    }
}
