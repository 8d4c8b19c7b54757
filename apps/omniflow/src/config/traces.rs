//! Where spans go, by the names that OpenTelemetry gave these settings.

use std::{collections::HashMap, time::Duration};

use super::Vars;

/// The collector and what it gets.
#[expect(missing_debug_implementations, reason = "headers may hold credentials")]
pub struct Traces {
    /// Its whole address, `…/v1/traces`.
    pub endpoint: String,
    /// Sent with every request.
    pub headers: HashMap<String, String>,
    /// Of one request.
    pub timeout: Duration,
    /// Longest wait of a span.
    pub delay: Duration,
    /// `service.name`, where it is not to be that of the process.
    pub service_name: Option<String>,
    /// Share of the traces that begin here.
    pub share: f64,
    /// Whether a caller's decision is followed.
    pub follow_parent: bool,
}

/// `None`: no collector is configured, or it is switched off.
pub(super) fn read(vars: &Vars) -> Option<Traces> {
    let endpoint = endpoint(vars);
    let disabled = vars.flag("OTEL_SDK_DISABLED");
    let protocol = vars.text("OTEL_EXPORTER_OTLP_PROTOCOL");
    let headers = headers(vars);
    let timeout = milliseconds(vars, "OTEL_EXPORTER_OTLP_TIMEOUT");
    let delay = milliseconds(vars, "OTEL_BSP_SCHEDULE_DELAY");
    let service_name = vars.text("OTEL_SERVICE_NAME");
    let (share, follow_parent) = sampler(vars);
    let endpoint = endpoint.filter(|_| !disabled)?;
    if protocol.is_some_and(|protocol| protocol != "http/protobuf") {
        vars.refuse(
            "OTEL_EXPORTER_OTLP_PROTOCOL",
            "only http/protobuf is spoken (port 4318 at most collectors)",
        );
    }
    Some(Traces {
        endpoint,
        headers,
        timeout,
        delay,
        service_name,
        share,
        follow_parent,
    })
}

/// The address for traces as it is, or the one for everything with the path of traces.
fn endpoint(vars: &Vars) -> Option<String> {
    let all = vars.text("OTEL_EXPORTER_OTLP_ENDPOINT");
    let traces = vars.text("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT");
    let (name, address) = match (traces, all) {
        (Some(traces), _) => ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", traces),
        (None, Some(all)) => (
            "OTEL_EXPORTER_OTLP_ENDPOINT",
            format!("{}/v1/traces", all.trim_end_matches('/')),
        ),
        (None, None) => return None,
    };
    let rest = address
        .strip_prefix("https://")
        .or_else(|| address.strip_prefix("http://"));
    if rest.is_none_or(|rest| rest.is_empty() || rest.starts_with('/') || rest.contains(['@', ' ', '#'])) {
        vars.refuse(name, "has to be http(s)://host without credentials or fragment");
    }
    Some(address)
}

/// `name=value,name=value`
fn headers(vars: &Vars) -> HashMap<String, String> {
    const NAME: &str = "OTEL_EXPORTER_OTLP_HEADERS";
    let text = vars.text(NAME).unwrap_or_default();
    let pairs = text.split(',').map(str::trim).filter(|pair| !pair.is_empty());
    let mut headers = HashMap::new();
    for pair in pairs {
        match pair.split_once('=') {
            Some((name, value)) if !name.trim().is_empty() => {
                headers.insert(name.trim().to_ascii_lowercase(), value.trim().to_owned());
            }
            _ => vars.refuse(NAME, "has to be name=value, several separated by commas"),
        }
    }
    headers
}

fn milliseconds(vars: &Vars, name: &'static str) -> Duration {
    let value: u64 = vars.parsed(name).unwrap_or(1);
    if !(1..=600_000).contains(&value) {
        vars.refuse(name, "has to be from 1 to 600000");
    }
    Duration::from_millis(value)
}

fn sampler(vars: &Vars) -> (f64, bool) {
    let name = vars.text("OTEL_TRACES_SAMPLER");
    let share: f64 = vars.parsed("OTEL_TRACES_SAMPLER_ARG").unwrap_or(1.0);
    if !(0.0..=1.0).contains(&share) {
        vars.refuse("OTEL_TRACES_SAMPLER_ARG", "has to be from 0 to 1");
    }
    match name.as_deref() {
        None | Some("parentbased_always_on") => (1.0, true),
        Some("always_on") => (1.0, false),
        Some("always_off") => (0.0, false),
        Some("traceidratio") => (share, false),
        Some("parentbased_always_off") => (0.0, true),
        Some("parentbased_traceidratio") => (share, true),
        Some(_) => {
            vars.refuse(
                "OTEL_TRACES_SAMPLER",
                "has to be always_on, always_off, traceidratio, or one of these behind parentbased_",
            );
            (0.0, false)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    fn config(pairs: &[(&str, &str)]) -> Result<Config, super::super::Invalid> {
        let pairs = pairs
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Config::read(&Vars::from_map(pairs.collect()))
    }

    #[test]
    fn nothing_is_traced_unless_a_collector_is_named() {
        assert!(config(&[]).unwrap().traces.is_none());
        assert!(config(&[("OTEL_SERVICE_NAME", "x")]).unwrap().traces.is_none());
        let off = [
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:4318"),
            ("OTEL_SDK_DISABLED", "true"),
        ];
        assert!(config(&off).unwrap().traces.is_none());
    }

    #[test]
    fn the_address_for_everything_gets_the_path_and_the_one_for_traces_does_not() {
        let all = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:4318/");
        assert_eq!(
            config(&[all]).unwrap().traces.unwrap().endpoint,
            "http://c:4318/v1/traces"
        );
        let own = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "https://t.test/in");
        let traces = config(&[all, own, ("OTEL_EXPORTER_OTLP_HEADERS", "Authorization=Bearer x, b=c")])
            .unwrap()
            .traces
            .unwrap();
        assert_eq!(traces.endpoint, "https://t.test/in");
        assert_eq!(traces.headers["authorization"], "Bearer x");
        assert_eq!((traces.share, traces.follow_parent), (1.0, true));
    }

    #[test]
    fn what_cannot_be_done_is_refused_and_no_value_is_shown() {
        let refused = config(&[
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "c:4317"),
            ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "hunter2"),
            ("OTEL_TRACES_SAMPLER", "jaeger_remote"),
            ("OTEL_TRACES_SAMPLER_ARG", "7"),
            ("OTEL_BSP_SCHEDULE_DELAY", "0"),
        ]);
        let message = refused.err().expect("six problems").to_string();
        for name in ["ENDPOINT", "PROTOCOL", "HEADERS", "SAMPLER:", "SAMPLER_ARG", "DELAY"] {
            assert!(message.contains(name), "{name}: {message}");
        }
        assert!(!message.contains("hunter2"));
    }
}
