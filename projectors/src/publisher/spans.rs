//! A row's way through the publisher, in the trace of the request that caused it.

use serde::Deserialize;
use tracing::{Span, field::Empty};

use super::hand_over::Ready;

/// One span for each row whose trace is recorded; rows of other requests cost nothing.
pub(super) fn spans(rows: &[Ready]) -> Vec<Span> {
    rows.iter().filter_map(span).collect()
}

fn span(ready: &Ready) -> Option<Span> {
    #[derive(Deserialize)]
    struct Carried {
        traceparent: String,
    }
    let row = &ready.row;
    if !row.headers.contains("traceparent") {
        return None;
    }
    let carried: Carried = serde_json::from_str(&row.headers).ok()?;
    let parent: ports::trace::TraceParent = carried.traceparent.parse().ok()?;
    if !parent.is_sampled() {
        return None;
    }
    let span = tracing::info_span!(
        "outbox.publish",
        otel.kind = "producer",
        otel.name = format!("publish {}", row.topic),
        messaging.system = "river",
        topic = row.topic,
        outbox_id = row.id,
        jobs = ready.effects.len(),
        trace_id = Empty,
    );
    telemetry::adopt(&span, Some(parent), None);
    Some(span)
}
