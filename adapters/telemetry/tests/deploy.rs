#![cfg(test)]
//! Dashboard and alerts name only what is in the table of metrics, with labels that it has; every alert says what to do.

use std::{collections::BTreeSet, fs, path::Path};

use serde_json::Value;
use telemetry::registry::{Kind, METRICS, Metric};

/// Every series has it; buckets have the other.
const EVERYWHERE: [&str; 2] = ["service", "le"];

#[test]
fn the_dashboard_reads_what_is_reported() {
    let text = read("deploy/grafana/omniflow.json");
    let dashboard: Value = serde_json::from_str(&text).unwrap();
    let panels = dashboard["panels"].as_array().unwrap();
    let targets: Vec<&Value> = panels
        .iter()
        .flat_map(|panel| panel["targets"].as_array().into_iter().flatten())
        .collect();
    assert!(targets.len() > 30, "{}", targets.len());
    let mut named = BTreeSet::new();
    for target in targets {
        let expression = target["expr"].as_str().unwrap();
        named.extend(check(expression));
        let legend = target["legendFormat"].as_str().unwrap();
        let shown: Vec<&str> = legend
            .split("{{")
            .skip(1)
            .filter_map(|rest| rest.split("}}").next())
            .collect();
        for label in shown {
            assert!(
                grouped(expression).contains(label),
                "{legend}: {expression} has no label {label}"
            );
        }
    }
    let ids: BTreeSet<_> = panels.iter().map(|panel| panel["id"].as_u64().unwrap()).collect();
    assert_eq!(ids.len(), panels.len(), "an id stands twice");
    let unseen: Vec<_> = METRICS
        .iter()
        .map(|metric| metric.name)
        .filter(|name| !named.contains(*name) && !NOT_SHOWN.contains(name))
        .collect();
    assert!(unseen.is_empty(), "no panel shows {unseen:?}");
}

/// For joins and searches, not for charts.
const NOT_SHOWN: &[&str] = &[
    "omniflow_build_info",
    "omniflow_goods_requests_total",
    "omniflow_panel_paused",
    "omniflow_panel_webhooks_total",
    "omniflow_pass_rows_total",
    "omniflow_spans_exported_total",
];

#[test]
fn every_alert_reads_what_is_reported_and_says_what_to_do() {
    let text = read("deploy/prometheus/omniflow.rules.yml");
    let alerts: Vec<&str> = text.split("- alert: ").skip(1).collect();
    assert!(alerts.len() >= 15, "{}", alerts.len());
    let mut names = BTreeSet::new();
    for alert in alerts {
        let name = alert.lines().next().unwrap().trim();
        assert!(names.insert(name), "{name} stands twice");
        let line = |key: &str| {
            let found = alert.lines().find_map(|line| line.trim().strip_prefix(key));
            found.unwrap_or_else(|| panic!("{name} has no {key}")).trim()
        };
        let expression = line("expr:");
        assert!(!check(expression).is_empty(), "{name} reads nothing");
        let severity = line("labels:");
        assert!(
            ["critical", "warning", "info"]
                .iter()
                .any(|known| severity == format!("{{severity: {known}}}")),
            "{name}: {severity}"
        );
        for key in ["summary:", "runbook:"] {
            let text = line(key);
            assert!(
                text.len() > 22 && text.starts_with('"') && text.ends_with('"'),
                "{name}: {text}"
            );
            for label in text.split("$labels.").skip(1) {
                let label = label.split(|letter: char| !is_word(letter)).next().unwrap();
                assert!(grouped(expression).contains(label), "{name} has no label {label}");
            }
        }
        line("for:");
    }
}

#[test]
fn a_wrong_name_or_label_is_found() {
    for wrong in [
        "omniflow_jobs",
        "omniflow_jobs_total{task=\"x\"}",
        "sum by (queue) (omniflow_jobs_total)",
        "omniflow_jobs_total_bucket",
        "histogram_quantile(0.9, omniflow_job_duration_seconds)",
    ] {
        assert!(std::panic::catch_unwind(|| check(wrong)).is_err(), "{wrong}");
    }
    assert_eq!(
        check("sum by (kind) (rate(omniflow_jobs_total{outcome=\"failed\"}[5m]))").len(),
        1
    );
}

fn read(path: &str) -> String {
    fs::read_to_string(
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .ancestors()
            .nth(2)
            .unwrap()
            .join(path),
    )
    .unwrap()
}

const fn is_word(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_'
}

/// Names of the metrics in an expression, each found in the table with the labels that are asked of it.
fn check(expression: &str) -> BTreeSet<&'static str> {
    let mut metrics = Vec::new();
    for prefix in ["omniflow_", "process_"] {
        for (at, _) in expression.match_indices(prefix) {
            if expression[..at].ends_with(is_word) {
                continue;
            }
            let rest = &expression[at..];
            let end = rest.find(|letter: char| !is_word(letter)).unwrap_or(rest.len());
            let metric = find(&rest[..end]).unwrap_or_else(|| panic!("{expression}: there is no {}", &rest[..end]));
            if let Some(selector) = rest[end..].strip_prefix('{') {
                for matcher in selector.split('}').next().unwrap().split(',') {
                    let label = matcher.split(['=', '!']).next().unwrap().trim();
                    assert!(has(metric, label), "{expression}: {} has no label {label}", metric.name);
                }
            }
            metrics.push(metric);
        }
    }
    for label in grouped(expression) {
        assert!(
            metrics.iter().all(|metric| has(metric, label)),
            "{expression}: not every metric has the label {label}"
        );
    }
    metrics.into_iter().map(|metric| metric.name).collect()
}

/// The metric of a series' name: histograms are read by their parts.
fn find(series: &str) -> Option<&'static Metric> {
    METRICS.iter().find(|metric| {
        if metric.kind == Kind::Histogram {
            let part = series.strip_prefix(metric.name);
            matches!(part, Some("_bucket" | "_sum" | "_count"))
        } else {
            metric.name == series
        }
    })
}

fn has(metric: &Metric, label: &str) -> bool {
    metric.labels.contains(&label) || EVERYWHERE.contains(&label)
}

/// The labels that an expression keeps.
fn grouped(expression: &str) -> BTreeSet<&str> {
    let lists = expression
        .split("by (")
        .skip(1)
        .filter_map(|rest| rest.split(')').next());
    lists.flat_map(|list| list.split(',').map(str::trim)).collect()
}
