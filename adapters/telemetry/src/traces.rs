//! Spans to a collector, by OTLP over HTTP. Off unless it is configured; then a span costs what its log fields cost.
//!
//! Sending is done by a thread of its own with a bounded queue: a collector that is slow or gone costs spans, never time, and is reported when
//! that begins and when it ends.

use std::{
    collections::HashMap,
    fmt,
    sync::OnceLock,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use opentelemetry::trace::TracerProvider as _;
use opentelemetry_otlp::{WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::{
    Resource,
    error::OTelSdkResult,
    trace::{BatchConfigBuilder, BatchSpanProcessor, Sampler, SdkTracerProvider, SpanData, SpanExporter},
};
use tracing::Subscriber;
use tracing_subscriber::{Layer, registry::LookupSpan};

use crate::{TelemetryError, tls};

static PROVIDER: OnceLock<SdkTracerProvider> = OnceLock::new();

/// Which traces are recorded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sampling {
    /// Share of the traces that begin here, from 0 to 1.
    pub share: f64,
    /// A trace that begins elsewhere is recorded when its maker records it.
    pub follow_parent: bool,
}

/// Where spans go.
pub struct TraceOptions {
    /// The collector's whole address, `…/v1/traces`.
    pub endpoint: String,
    /// Sent with every request; may hold credentials.
    pub headers: HashMap<String, String>,
    /// Of one request.
    pub timeout: Duration,
    /// Longest wait of a span in the queue.
    pub delay: Duration,
    /// `service.name`
    pub service_name: String,
    /// `service.instance.id`
    pub instance: String,
    /// What is recorded.
    pub sampling: Sampling,
}

impl fmt::Debug for TraceOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TraceOptions").finish_non_exhaustive()
    }
}

/// The layer that records spans; the sending thread starts with it.
pub(crate) fn layer<S>(options: &TraceOptions) -> Result<Box<dyn Layer<S> + Send + Sync>, TelemetryError>
where
    S: Subscriber + for<'a> LookupSpan<'a> + Send + Sync,
{
    let processor = BatchSpanProcessor::builder(Watched::new(exporter(options)?))
        .with_batch_config(
            BatchConfigBuilder::default()
                .with_scheduled_delay(options.delay)
                .build(),
        )
        .build();
    let provider = SdkTracerProvider::builder()
        .with_span_processor(processor)
        .with_sampler(sampler(options.sampling))
        .with_resource(
            Resource::builder()
                .with_service_name(options.service_name.clone())
                .with_attribute(opentelemetry::KeyValue::new(
                    "service.version",
                    env!("CARGO_PKG_VERSION"),
                ))
                .with_attribute(opentelemetry::KeyValue::new(
                    "service.instance.id",
                    options.instance.clone(),
                ))
                .build(),
        )
        .build();
    let tracer = provider.tracer("omniflow");
    PROVIDER.set(provider).map_err(|_| TelemetryError::AlreadyInstalled)?;
    Ok(tracing_opentelemetry::layer()
        .with_tracer(tracer)
        .with_location(false)
        .with_threads(false)
        .with_tracked_inactivity(false)
        .boxed())
}

/// Sends what still waits, for `limit` at most. Nothing is recorded afterwards. Without a collector nothing happens.
pub fn flush(limit: Duration) {
    if let Some(provider) = PROVIDER.get() {
        let _told_when_it_failed = provider.shutdown_with_timeout(limit);
    }
}

fn sampler(sampling: Sampling) -> Sampler {
    let root = if sampling.share >= 1.0 {
        Sampler::AlwaysOn
    } else if sampling.share > 0.0 {
        Sampler::TraceIdRatioBased(sampling.share)
    } else {
        Sampler::AlwaysOff
    };
    if sampling.follow_parent {
        Sampler::ParentBased(Box::new(root))
    } else {
        root
    }
}

fn exporter(options: &TraceOptions) -> Result<opentelemetry_otlp::SpanExporter, TelemetryError> {
    opentelemetry_otlp::SpanExporter::builder()
        .with_http()
        .with_http_client(client(options)?)
        .with_endpoint(options.endpoint.clone())
        .with_headers(options.headers.clone())
        .with_protocol(opentelemetry_otlp::Protocol::HttpBinary)
        .with_timeout(options.timeout)
        .build()
        .map_err(|_| TelemetryError::Traces("the address or a header of the collector cannot be used"))
}

/// A client that blocks its own thread. It is made on a thread too: it must not be made where an async runtime drives.
fn client(options: &TraceOptions) -> Result<reqwest::blocking::Client, TelemetryError> {
    let encrypted = options.endpoint.starts_with("https://");
    let timeout = options.timeout;
    let tls = tls::client_config(encrypted)?;
    let made = thread::spawn(move || {
        reqwest::blocking::Client::builder()
            .tls_backend_preconfigured(tls)
            .redirect(reqwest::redirect::Policy::none())
            .timeout(timeout)
            .build()
    });
    made.join()
        .ok()
        .and_then(Result::ok)
        .ok_or(TelemetryError::Traces("the client of the collector cannot be made"))
}

/// Counts what is sent and lost, and reports a collector that went away once, and its return.
#[derive(Debug)]
struct Watched<E> {
    inner: E,
    failing: AtomicBool,
}

impl<E> Watched<E> {
    const fn new(inner: E) -> Self {
        Self {
            inner,
            failing: AtomicBool::new(false),
        }
    }

    fn note(&self, spans: usize, sent: bool) {
        let outcome = if sent { "sent" } else { "lost" };
        let spans = u64::try_from(spans).unwrap_or(u64::MAX);
        metrics::counter!("omniflow_spans_exported_total", "outcome" => outcome).increment(spans);
        if self.failing.swap(!sent, Ordering::Relaxed) == sent {
            if sent {
                tracing::info!("the collector of traces takes spans again");
            } else {
                tracing::warn!(code = "traces_not_sent", "the collector of traces does not take spans");
            }
        }
    }
}

impl<E: SpanExporter> SpanExporter for Watched<E> {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let spans = batch.len();
        let outcome = self.inner.export(batch).await;
        self.note(spans, outcome.is_ok());
        outcome
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.inner.shutdown_with_timeout(timeout)
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.inner.force_flush()
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.inner.set_resource(resource);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sampler_is_what_was_asked_for() {
        let name = |share, follow_parent| format!("{:?}", sampler(Sampling { share, follow_parent }));
        assert_eq!(name(1.0, false), "AlwaysOn");
        assert_eq!(name(0.0, false), "AlwaysOff");
        assert_eq!(name(0.25, false), "TraceIdRatioBased(0.25)");
        assert_eq!(name(1.0, true), "ParentBased(AlwaysOn)");
    }

    #[test]
    fn a_lost_collector_is_reported_once_and_its_return_once() {
        let watched = Watched::new(());
        let flips: Vec<bool> = [true, true, false, false, false, true, true]
            .into_iter()
            .map(|sent| {
                let before = watched.failing.load(Ordering::Relaxed);
                watched.note(1, sent);
                before != watched.failing.load(Ordering::Relaxed)
            })
            .collect();
        assert_eq!(flips, [false, false, true, false, false, true, false]);
    }

    #[test]
    fn credentials_do_not_show() {
        let options = TraceOptions {
            endpoint: "http://127.0.0.1:1/v1/traces".to_owned(),
            headers: HashMap::from([("authorization".to_owned(), "hunter2-hunter2".to_owned())]),
            timeout: Duration::from_secs(1),
            delay: Duration::from_secs(1),
            service_name: "x".to_owned(),
            instance: "y".to_owned(),
            sampling: Sampling {
                share: 1.0,
                follow_parent: true,
            },
        };
        assert!(!format!("{options:?}").contains("hunter2"));
    }
}
