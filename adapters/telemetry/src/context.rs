//! Where a span hangs in its trace, and what it is to those that follow.

use std::str::FromStr as _;

use opentelemetry::{
    Context,
    trace::{SpanContext, SpanId, TraceContextExt as _, TraceFlags, TraceId, TraceState},
};
use ports::trace::TraceParent;
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt as _;

/// No longer `tracestate` of a stranger is carried.
const LONGEST_STATE: usize = 512;

/// Makes a new span the child of `parent`, writes its field `trace_id`, and answers what work inside it names as its own parent: the span itself
/// where spans are recorded, otherwise `parent`.
pub fn adopt(span: &Span, parent: Option<TraceParent>, state: Option<&str>) -> Option<TraceParent> {
    if let Some(parent) = parent {
        let remote = SpanContext::new(
            TraceId::from_bytes(parent.trace_id().to_be_bytes()),
            SpanId::from_bytes(parent.span_id().to_be_bytes()),
            if parent.is_sampled() {
                TraceFlags::SAMPLED
            } else {
                TraceFlags::default()
            },
            true,
            state.map(bounded).unwrap_or_default(),
        );
        // Refused only for a span that runs already; nobody else has this one.
        let _set = span.set_parent(Context::new().with_remote_span_context(remote));
    }
    let inside = own(span).or(parent);
    if let Some(inside) = inside {
        span.record("trace_id", inside.trace_id_hex());
    }
    inside
}

fn own(span: &Span) -> Option<TraceParent> {
    let context = span.context();
    let own = context.span().span_context().clone();
    TraceParent::new(
        u128::from_be_bytes(own.trace_id().to_bytes()),
        u64::from_be_bytes(own.span_id().to_bytes()),
        own.is_sampled(),
    )
}

fn bounded(state: &str) -> TraceState {
    if state.len() > LONGEST_STATE {
        return TraceState::default();
    }
    TraceState::from_str(state).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use opentelemetry::trace::TracerProvider as _;
    use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider};
    use tracing_subscriber::layer::SubscriberExt as _;

    use super::*;

    const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    #[test]
    fn without_a_collector_the_callers_context_is_handed_on() {
        let parent: TraceParent = PARENT.parse().unwrap();
        let span = tracing::info_span!("x", trace_id = tracing::field::Empty);
        assert_eq!(adopt(&span, Some(parent), None), Some(parent));
        assert_eq!(adopt(&span, None, None), None);
    }

    #[test]
    fn a_recorded_span_is_a_child_of_the_caller_and_the_parent_of_what_follows() {
        let exporter = InMemorySpanExporter::default();
        let provider = SdkTracerProvider::builder()
            .with_simple_exporter(exporter.clone())
            .build();
        let layer = tracing_opentelemetry::layer().with_tracer(provider.tracer("test"));
        let inside = tracing::subscriber::with_default(tracing_subscriber::registry().with(layer), || {
            let span = tracing::info_span!("x", trace_id = tracing::field::Empty);
            adopt(&span, Some(PARENT.parse().unwrap()), Some("vendor=1")).unwrap()
        });
        let spans = exporter.get_finished_spans().unwrap();
        assert_eq!(spans.len(), 1);
        assert_eq!(format!("{}", spans[0].parent_span_id), "b7ad6b7169203331");
        assert_eq!(inside.trace_id_hex(), "0af7651916cd43dd8448eb211c80319c");
        assert_eq!(
            inside.span_id(),
            u64::from_be_bytes(spans[0].span_context.span_id().to_bytes())
        );
        assert_eq!(spans[0].span_context.trace_state().get("vendor"), Some("1"));
    }

    #[test]
    fn strange_state_is_dropped() {
        assert_eq!(
            bounded(&format!("a={}", "x".repeat(LONGEST_STATE))),
            TraceState::default()
        );
        assert_eq!(bounded("not a state"), TraceState::default());
    }
}
