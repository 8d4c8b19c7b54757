//! What each metric means. Names are API: dashboards and alerts read them.

use metrics::{Unit, describe_counter, describe_gauge, describe_histogram};

const COUNTERS: &[(&str, &str)] = &[
    (
        "omniflow_http_requests_total",
        "Requests answered, by route template, method and class of status.",
    ),
    ("omniflow_jobs_total", "Job runs that ended, by kind and outcome."),
    (
        "omniflow_provider_webhooks_total",
        "Webhooks taken in, by provider and outcome.",
    ),
    (
        "omniflow_payments_total",
        "Payments observed, by provider, operation of the order and classification.",
    ),
    (
        "omniflow_remnawave_requests_total",
        "Calls to the panel, by operation and outcome.",
    ),
    ("omniflow_remnawave_errors_total", "Failed calls to the panel, by code."),
    (
        "omniflow_append_conflicts_total",
        "Use cases run again because another writer was faster.",
    ),
    (
        "omniflow_outbox_published_total",
        "Outbox rows handed over by this process.",
    ),
    (
        "omniflow_outbox_failures_total",
        "Tries to hand over a row that cannot be handed over, by code.",
    ),
    (
        "omniflow_pass_runs_total",
        "Runs of periodic passes, by pass and outcome.",
    ),
];

const GAUGES: &[(&str, &str)] = &[
    (
        "omniflow_outbox_pending_events",
        "Outbox rows that were not handed over yet, parked ones included.",
    ),
    (
        "omniflow_outbox_oldest_age_seconds",
        "Age of the oldest outbox row that was not handed over.",
    ),
    (
        "omniflow_outbox_blocked_streams",
        "Streams that a failing outbox row blocks.",
    ),
    (
        "omniflow_projection_lag_events",
        "Positions between the end of the log and a projection's cursor.",
    ),
    ("omniflow_projection_stopped", "1 while an event stops a projection."),
    (
        "omniflow_fence_lag_seconds",
        "How long the readers' fence has been waiting for open transactions.",
    ),
    (
        "omniflow_dependency_up",
        "1 when the last probe of a dependency succeeded.",
    ),
    (
        "omniflow_maintenance_mode",
        "1 while maintenance holds new orders and provisioning.",
    ),
];

const HISTOGRAMS: &[(&str, &str)] = &[
    (
        "omniflow_http_request_duration_seconds",
        "From the request's head to the answer's head, by route template and method.",
    ),
    ("omniflow_job_duration_seconds", "One run of a job, by kind."),
];

/// Registers the descriptions with the recorder that is installed.
pub(crate) fn describe_all() {
    for (name, meaning) in COUNTERS {
        describe_counter!(*name, *meaning);
    }
    for (name, meaning) in GAUGES {
        describe_gauge!(*name, *meaning);
    }
    for (name, meaning) in HISTOGRAMS {
        describe_histogram!(*name, Unit::Seconds, *meaning);
    }
}
