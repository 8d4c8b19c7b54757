//! Every metric of Omniflow: its name, its labels, what it means. Names are API: dashboards and alerts read them.
//!
//! A label's values come from a closed set or from the configuration (a provider's name): never an id, never text from outside. Tests hold this
//! table to the places that report, to `docs/metrics.md`, and to what a running system prints.

/// How a metric behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Only grows, from 0 at the start of the process.
    Counter,
    /// Goes up and down.
    Gauge,
    /// Seconds, in the buckets of this crate.
    Histogram,
}

impl Kind {
    /// As Prometheus calls it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Histogram => "histogram",
        }
    }
}

/// One metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metric {
    /// Its name.
    pub name: &'static str,
    /// How it behaves.
    pub kind: Kind,
    /// Its labels, beside `service`, which every metric has.
    pub labels: &'static [&'static str],
    /// What it means, with its unit where the name does not say it.
    pub meaning: &'static str,
}

const fn metric(kind: Kind, name: &'static str, labels: &'static [&'static str], meaning: &'static str) -> Metric {
    Metric {
        name,
        kind,
        labels,
        meaning,
    }
}

use Kind::{Counter, Gauge, Histogram};

/// All of them, by subject.
#[rustfmt::skip]
pub const METRICS: &[Metric] = &[
    // HTTP
    metric(Counter, "omniflow_http_requests_total", &["route", "method", "status"],
        "Requests answered, by route template (`unmatched` for none), method and class of status (`2xx`)."),
    metric(Histogram, "omniflow_http_request_duration_seconds", &["route", "method"],
        "From the request's head to the answer's head."),
    metric(Counter, "omniflow_operator_denied_total", &["reason"],
        "Admin calls refused for their credentials, by reason."),

    // the log and its followers
    metric(Counter, "omniflow_events_appended_total", &["aggregate", "type"],
        "Events written by this process, by aggregate and event type."),
    metric(Histogram, "omniflow_append_duration_seconds", &["outcome"],
        "Writing one unit of work, by outcome: `committed`, `conflict`, `failed`."),
    metric(Counter, "omniflow_append_conflicts_total", &[],
        "Use cases run again because another writer was faster."),
    metric(Gauge, "omniflow_fence_lag_seconds", &[],
        "How long the readers' fence has been waiting for open transactions."),
    metric(Gauge, "omniflow_projection_lag_events", &["projection"],
        "Positions between the end of the log and a projection's cursor."),
    metric(Gauge, "omniflow_projection_stopped", &["projection"],
        "1 while an event stops a projection."),

    // the outbox
    metric(Gauge, "omniflow_outbox_pending_events", &[],
        "Outbox rows that were not handed over yet, parked ones included; 0 in a process that does not publish."),
    metric(Gauge, "omniflow_outbox_oldest_age_seconds", &[],
        "Age of the oldest outbox row that was not handed over; 0 in a process that does not publish."),
    metric(Gauge, "omniflow_outbox_blocked_streams", &[],
        "Streams that a failing outbox row blocks; 0 in a process that does not publish."),
    metric(Gauge, "omniflow_outbox_publisher_active", &[],
        "1 in the one worker that publishes."),
    metric(Counter, "omniflow_outbox_published_total", &[],
        "Outbox rows handed over by this process."),
    metric(Counter, "omniflow_outbox_failures_total", &["code"],
        "Tries to hand over a row that cannot be handed over, by code."),

    // jobs and passes
    metric(Counter, "omniflow_jobs_total", &["kind", "outcome"],
        "Attempts of jobs that ended, by kind and outcome: `succeeded`, `snoozed` (a hold or a wait: no failure), `failed`, `cancelled`, `interrupted`."),
    metric(Histogram, "omniflow_job_duration_seconds", &["kind"],
        "One attempt of a job, from start to end."),
    metric(Histogram, "omniflow_job_wait_seconds", &["kind"],
        "From the time a job was due until a worker started it."),
    metric(Gauge, "omniflow_jobs_state", &["queue", "state"],
        "Jobs in the queue that have not ended, and those that were discarded, by queue and state."),
    metric(Gauge, "omniflow_job_oldest_due_age_seconds", &["queue"],
        "How long the longest waiting due job has been due."),
    metric(Counter, "omniflow_fulfillment_results_total", &["operation", "result"],
        "What runs that may have called the panel came to, by operation and result: `applied`, `retrying`, `failed`, `rate_limited`, `fenced_out`, `interrupted`, `unrecorded`."),
    metric(Gauge, "omniflow_operations", &["status"],
        "Fulfillment operations that have not ended, and those that failed, by status."),
    metric(Gauge, "omniflow_paid_undelivered", &["what"],
        "Paid orders whose access or goods are not there yet, by what was bought: `access`, `goods`."),
    metric(Gauge, "omniflow_paid_undelivered_oldest_age_seconds", &["what"],
        "How long the oldest of them has been paid; those that wait for a person are not among them."),
    metric(Gauge, "omniflow_dead_letters", &["kind"],
        "Work that ended without success and that nobody has resolved, by kind of job."),
    metric(Counter, "omniflow_pass_runs_total", &["task", "outcome"],
        "Runs of periodic passes: `succeeded`, `failed`, `interrupted` (the process stopped), `skipped` (it ran a moment ago, or another run is on)."),
    metric(Histogram, "omniflow_pass_duration_seconds", &["task"],
        "One run of a pass."),
    metric(Counter, "omniflow_pass_rows_total", &["task", "step"],
        "Rows that passes dealt with, by pass and step."),
    metric(Gauge, "omniflow_pass_last_success_timestamp_seconds", &["task"],
        "When the last run of a pass that ended well began, as Unix time; 0 before the first."),

    // the panel
    metric(Counter, "omniflow_remnawave_requests_total", &["operation", "outcome"],
        "Calls to the panel, by operation and outcome: `ok`, `error`."),
    metric(Histogram, "omniflow_remnawave_request_duration_seconds", &["operation", "outcome"],
        "One call to the panel, by operation and class of outcome: `ok`, or the class of the failure."),
    metric(Counter, "omniflow_remnawave_errors_total", &["code"],
        "Failed calls to the panel, by code."),
    metric(Gauge, "omniflow_panel_paused", &[],
        "1 while this worker leaves the panel alone because it asked for less."),
    metric(Counter, "omniflow_panel_webhooks_total", &["outcome"],
        "Webhooks of the panel taken in, by outcome."),
    metric(Gauge, "omniflow_drifts_open", &["kind"],
        "Entitlements whose remote user was seen to differ and was not put right yet, by kind of difference."),

    // goods
    metric(Counter, "omniflow_goods_submissions_total", &["provider", "outcome"],
        "Purchases submitted to a goods provider, by class of outcome."),
    metric(Counter, "omniflow_goods_requests_total", &["operation", "outcome"],
        "Calls to the goods gateway, by operation and outcome: `ok`, `refused`, `error`."),
    metric(Histogram, "omniflow_goods_request_duration_seconds", &["operation", "outcome"],
        "One call to the goods gateway."),
    metric(Gauge, "omniflow_deliveries", &["status"],
        "Deliveries of goods that have not ended, and those that wait for a person (`needs_review`), by status."),

    // money
    metric(Counter, "omniflow_provider_webhooks_total", &["provider", "outcome"],
        "Webhooks of payment providers taken in, by provider and outcome."),
    metric(Counter, "omniflow_payments_total", &["provider", "operation", "classification"],
        "Payments observed, by provider, operation of the order and classification."),
    metric(Histogram, "omniflow_payment_request_duration_seconds", &["provider", "operation", "outcome"],
        "One call to a payment provider: `ok` or `error`."),

    // operators
    metric(Counter, "omniflow_notices_total", &["kind", "outcome"],
        "Notices to operators dealt with, by kind and outcome: `sent`, `suppressed`, `retrying`, `failed`."),
    metric(Gauge, "omniflow_notices", &["status"],
        "Notices to operators that were not sent, by status."),
    metric(Counter, "omniflow_telegram_sends_total", &["outcome"],
        "Messages sent through Telegram, by outcome: `sent`, or the class of the failure."),
    metric(Gauge, "omniflow_maintenance_mode", &[],
        "1 while maintenance holds new orders and provisioning."),

    // the process and what it stands on
    metric(Gauge, "omniflow_dependency_up", &["dependency"],
        "1 when the last probe of a dependency succeeded."),
    metric(Gauge, "omniflow_database_connections", &["pool", "state"],
        "Connections of a pool: `idle`, `used`."),
    metric(Counter, "omniflow_spans_exported_total", &["outcome"],
        "Spans handed to the collector of traces: `sent`, `lost`."),
    metric(Gauge, "omniflow_build_info", &["version"],
        "Always 1."),
    metric(Gauge, "omniflow_runtime_alive_tasks", &[],
        "Tasks of the async runtime that have not ended."),
    metric(Counter, "process_cpu_seconds_total", &[],
        "Processor time of this process, in whole seconds."),
    metric(Gauge, "process_resident_memory_bytes", &[],
        "Memory of this process that is in RAM."),
    metric(Gauge, "process_open_fds", &[],
        "Open file descriptors of this process."),
];

/// The table of `docs/metrics.md`.
pub fn markdown() -> String {
    let rows = METRICS.iter().map(|metric| {
        let labels: Vec<_> = metric.labels.iter().map(|label| format!("`{label}`")).collect();
        let (kind, labels) = (metric.kind.as_str(), labels.join(", "));
        format!("| `{}` | {kind} | {labels} | {} |\n", metric.name, metric.meaning)
    });
    let head = "| metric | type | labels | meaning |\n|---|---|---|---|\n";
    std::iter::once(head.to_owned()).chain(rows).collect()
}
