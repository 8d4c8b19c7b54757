//! The metrics recorder and its Prometheus text.

use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};

use crate::{TelemetryError, describe, process};

/// Seconds. A goods job may take 110 s, so the buckets reach 120 s; the low end shows single statements.
const BUCKETS_SECONDS: &[f64] = &[
    0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 30.0, 60.0, 90.0, 120.0,
];

/// The process's metrics. Cheap to clone.
#[derive(Clone)]
pub struct Metrics(PrometheusHandle);

impl std::fmt::Debug for Metrics {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Metrics").finish_non_exhaustive()
    }
}

impl Metrics {
    /// Makes the process's recorder, whose series all carry `service`, and registers what each metric means.
    ///
    /// # Errors
    /// [`TelemetryError::AlreadyInstalled`] the second time in a process.
    pub fn install(service: &str) -> Result<Self, TelemetryError> {
        let recorder = builder(service)?.build_recorder();
        let handle = recorder.handle();
        metrics::set_global_recorder(recorder).map_err(|_| TelemetryError::AlreadyInstalled)?;
        describe::describe_all();
        metrics::gauge!("omniflow_build_info", "version" => env!("CARGO_PKG_VERSION")).set(1);
        process::report();
        Ok(Self(handle))
    }

    /// A recorder that nobody writes to, for processes and tests that only need the type.
    ///
    /// # Errors
    /// [`TelemetryError::Recorder`] never in practice: the buckets are constants.
    pub fn detached(service: &str) -> Result<Self, TelemetryError> {
        Ok(Self(builder(service)?.build_recorder().handle()))
    }

    /// Everything in Prometheus' text format.
    pub fn render(&self) -> String {
        self.0.render()
    }

    /// Folds what histograms collected, and looks at the process; to be called every few seconds: where nobody scrapes, memory would grow.
    pub fn upkeep(&self) {
        process::report();
        self.0.run_upkeep();
    }
}

fn builder(service: &str) -> Result<PrometheusBuilder, TelemetryError> {
    PrometheusBuilder::new()
        .add_global_label("service", service)
        .set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), BUCKETS_SECONDS)
        .map_err(|error| TelemetryError::Recorder(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_job_falls_into_a_bucket_of_its_own() {
        let recorder = builder("worker").unwrap().build_recorder();
        let handle = recorder.handle();
        metrics::with_local_recorder(&recorder, || {
            metrics::histogram!("omniflow_job_duration_seconds", "kind" => "goods_delivery").record(101.0);
            metrics::counter!("omniflow_jobs_total", "kind" => "fulfillment", "outcome" => "succeeded").increment(2);
        });
        let text = handle.render();
        assert!(
            text.contains(r#"omniflow_job_duration_seconds_bucket{service="worker",kind="goods_delivery",le="90"} 0"#)
        );
        assert!(
            text.contains(r#"omniflow_job_duration_seconds_bucket{service="worker",kind="goods_delivery",le="120"} 1"#)
        );
        assert!(
            text.contains(r#"omniflow_jobs_total{service="worker",kind="fulfillment",outcome="succeeded"} 2"#),
            "{text}"
        );
    }
}
