//! What is looked at at all: spans of our own crates, and the events that the log's filter lets through.
//!
//! It is one filter for everything, and not one for each layer: those keep what they decided in the thread, and a mere question (sqlx asks whether
//! it should log a statement) leaves that behind for the next span or line of the thread, which is then lost.

use tracing::{Metadata, Subscriber, level_filters::LevelFilter, subscriber::Interest};
use tracing_subscriber::{Layer, filter::Targets, layer::Context};

/// Crates whose spans count: what libraries say of themselves is left out.
const OURS: [&str; 12] = [
    "api",
    "goods",
    "omniflow",
    "payments",
    "projectors",
    "queue",
    "remnawave",
    "sandbox",
    "service",
    "store",
    "telegram",
    "worker",
];

/// The filter.
pub(crate) struct Wanted {
    events: Targets,
}

impl Wanted {
    pub(crate) const fn new(events: Targets) -> Self {
        Self { events }
    }

    fn wants(&self, metadata: &Metadata<'_>) -> bool {
        if metadata.is_span() {
            let root = metadata.target().split("::").next().unwrap_or_default();
            return *metadata.level() <= LevelFilter::INFO && OURS.contains(&root);
        }
        self.events.would_enable(metadata.target(), metadata.level())
    }
}

impl<S: Subscriber> Layer<S> for Wanted {
    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        if self.wants(metadata) {
            Interest::always()
        } else {
            Interest::never()
        }
    }

    fn enabled(&self, metadata: &Metadata<'_>, _context: Context<'_, S>) -> bool {
        self.wants(metadata)
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        let named = self.events.iter().map(|(_, level)| level);
        let events = named.chain(self.events.default_level()).max();
        Some(events.unwrap_or(LevelFilter::OFF).max(LevelFilter::INFO))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use tracing::{Event, span};
    use tracing_subscriber::{layer::SubscriberExt as _, registry::LookupSpan};

    use super::*;

    #[derive(Clone, Default)]
    struct Seen(Arc<Mutex<Vec<&'static str>>>);

    impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Seen {
        fn on_new_span(&self, attributes: &span::Attributes<'_>, _: &span::Id, _: Context<'_, S>) {
            self.0.lock().unwrap().push(attributes.metadata().name());
        }

        fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
            self.0.lock().unwrap().push(event.metadata().target());
        }
    }

    fn seen(filter: &str, work: impl FnOnce()) -> Vec<&'static str> {
        let seen = Seen::default();
        let subscriber = tracing_subscriber::registry()
            .with(Wanted::new(filter.parse().unwrap()))
            .with(seen.clone());
        tracing::subscriber::with_default(subscriber, work);
        let seen = seen.0.lock().unwrap();
        seen.clone()
    }

    #[test]
    fn our_spans_count_whatever_is_logged_and_strangers_spans_never() {
        let seen = seen("warn,sqlx=error", || {
            let _ours = tracing::info_span!(target: "store::x", "ours");
            let _fine = tracing::debug_span!(target: "store::x", "too fine");
            let _strange = tracing::info_span!(target: "hyper::x", "a stranger's");
            tracing::info!(target: "store::info", "x");
            tracing::warn!(target: "store::warn", "x");
            tracing::warn!(target: "sqlx::warn", "x");
        });
        assert_eq!(seen, ["ours", "store::warn"]);
    }

    #[test]
    fn a_question_costs_no_span_and_no_line() {
        let seen = seen("info,sqlx=warn", || {
            for _ in 0..3 {
                assert!(!tracing::enabled!(target: "sqlx::query", tracing::Level::DEBUG));
                let _span = tracing::info_span!(target: "api::x", "span");
                assert!(!tracing::enabled!(target: "sqlx::query", tracing::Level::DEBUG));
                tracing::info!(target: "api::line", "x");
            }
        });
        assert_eq!(seen, ["span", "api::line"].repeat(3));
    }
}
