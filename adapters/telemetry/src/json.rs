//! Log lines as JSON objects: the fields of every span around an event stand beside its own, so that one line says what it belongs to
//! (`correlation_id`, `trace_id`, `job_id`, `kind`, `operation_id`) without a look at the lines before it.

use std::{fmt, io::Write as _};

use serde_json::{Map, Value};
use tracing::{
    Event, Subscriber,
    field::{Field, Visit},
    span::{Attributes, Id, Record},
};
use tracing_subscriber::{
    Layer,
    fmt::{MakeWriter, format::Writer, time::FormatTime as _, time::SystemTime},
    layer::Context,
    registry::{LookupSpan, Scope},
};

/// Longer texts are cut: a line is for people and collectors, not for documents.
const LONGEST: usize = 4_096;

/// Names that are the line's own.
const OWN: [&str; 3] = ["timestamp", "level", "target"];

/// Writes a line for each event.
pub(crate) struct JsonLines<W> {
    writer: W,
}

impl<W> JsonLines<W> {
    pub(crate) const fn new(writer: W) -> Self {
        Self { writer }
    }
}

/// What a span said of itself so far.
#[derive(Default)]
struct Fields(Map<String, Value>);

impl<S, W> Layer<S> for JsonLines<W>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    W: for<'a> MakeWriter<'a> + 'static,
{
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        if let Some(span) = context.span(id) {
            let mut fields = Fields::default();
            attributes.record(&mut fields);
            span.extensions_mut().replace(fields);
        }
    }

    fn on_record(&self, id: &Id, record: &Record<'_>, context: Context<'_, S>) {
        if let Some(span) = context.span(id) {
            let mut extensions = span.extensions_mut();
            if let Some(fields) = extensions.get_mut::<Fields>() {
                record.record(fields);
            }
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let mut line = Map::new();
        let mut now = String::new();
        if SystemTime.format_time(&mut Writer::new(&mut now)).is_ok() {
            line.insert("timestamp".to_owned(), now.into());
        }
        line.insert("level".to_owned(), event.metadata().level().as_str().into());
        line.insert("target".to_owned(), event.metadata().target().into());
        for span in context.event_scope(event).into_iter().flat_map(Scope::from_root) {
            if let Some(fields) = span.extensions().get::<Fields>() {
                extend(&mut line, &fields.0);
            }
            line.insert("span".to_owned(), span.name().into());
        }
        let mut fields = Fields::default();
        event.record(&mut fields);
        extend(&mut line, &fields.0);

        let mut text = Value::Object(line).to_string();
        text.push('\n');
        // One write a line, so that lines of several threads never mix. A closed standard error is nobody's failure.
        let _closed = self.writer.make_writer_for(event.metadata()).write_all(text.as_bytes());
    }
}

/// Fields of an inner span, and those of the event, win; what belongs to the exporter of traces alone is left out.
fn extend(line: &mut Map<String, Value>, fields: &Map<String, Value>) {
    for (name, value) in fields {
        if !name.starts_with("otel.") && !OWN.contains(&name.as_str()) {
            line.insert(name.clone(), value.clone());
        }
    }
}

impl Fields {
    fn set(&mut self, field: &Field, value: impl Into<Value>) {
        self.0.insert(field.name().to_owned(), value.into());
    }
}

impl Visit for Fields {
    fn record_f64(&mut self, field: &Field, value: f64) {
        self.set(field, value);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.set(field, value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.set(field, value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.set(field, value);
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.set(field, cut(value));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.set(field, cut(&format!("{value:?}")));
    }
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io,
        sync::{Arc, Mutex},
    };

    use tracing_subscriber::layer::SubscriberExt as _;

    use super::*;

    #[derive(Clone, Default)]
    struct Paper(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Paper {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn lines(work: impl FnOnce()) -> Vec<Value> {
        let paper = Paper::default();
        let writer = paper.clone();
        let subscriber = tracing_subscriber::registry().with(JsonLines::new(move || writer.clone()));
        tracing::subscriber::with_default(subscriber, work);
        let bytes = paper.0.lock().unwrap();
        let text = std::str::from_utf8(&bytes).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    #[test]
    fn a_line_carries_what_every_span_around_it_says() {
        let lines = lines(|| {
            let outer = tracing::info_span!(
                "job.work",
                job_id = 7,
                kind = "fulfillment",
                trace_id = tracing::field::Empty,
                otel.kind = "consumer"
            );
            outer.record("trace_id", "0af7");
            outer.in_scope(|| {
                tracing::info_span!("panel.request", operation = "create_user").in_scope(|| {
                    tracing::warn!(code = "remnawave_timeout", kind = "mine", "no answer");
                });
                tracing::info!("between");
            });
            tracing::info!("outside");
        });
        assert_eq!(lines.len(), 3);
        let inner = &lines[0];
        assert_eq!(
            (
                &inner["job_id"],
                &inner["trace_id"],
                &inner["operation"],
                &inner["code"]
            ),
            (
                &7.into(),
                &"0af7".into(),
                &"create_user".into(),
                &"remnawave_timeout".into()
            )
        );
        assert_eq!(
            (&inner["kind"], &inner["span"]),
            (&"mine".into(), &"panel.request".into())
        );
        assert_eq!(
            (&inner["level"], &inner["message"]),
            (&"WARN".into(), &"no answer".into())
        );
        assert!(inner["timestamp"].is_string() && inner.get("otel.kind").is_none());
        assert_eq!(
            (&lines[1]["kind"], lines[1].get("operation")),
            (&"fulfillment".into(), None)
        );
        assert_eq!(lines[2].get("job_id"), None);
    }

    #[test]
    fn hostile_text_stays_inside_its_line() {
        let lines = lines(|| {
            tracing::info!(
                level = "FAKE",
                detail = "a\n{\"level\":\"ERROR\"}\u{1b}[2J",
                long = "ж".repeat(9_000),
                "x"
            );
        });
        assert_eq!(lines.len(), 1);
        assert_eq!(lines[0]["level"], "INFO");
        assert_eq!(lines[0]["long"].as_str().unwrap().chars().count(), LONGEST + 1);
    }
}
