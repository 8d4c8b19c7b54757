//! What `/metrics` prints, beside what is deployed to read it.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::{Duration, Instant},
};

use telemetry::registry::{Kind, METRICS};

use crate::up::telemetry::{Running, SOON, http};

/// Reported only when something goes wrong that this run does not do; their own tests make it go wrong.
const RARE: &[&str] = &["omniflow_outbox_failures_total"];

/// What dashboard and alerts read is printed by one of the processes, with the labels and the kind of the table.
pub(crate) async fn every_metric(running: &Running) {
    let named = named_in_deploy();
    assert!(named.len() > 40, "{named:?}");
    let deadline = Instant::now() + SOON;
    let printed = loop {
        let mut printed = BTreeMap::new();
        for url in [&running.api_url, &running.worker_url] {
            let answer = http().get(format!("{url}/metrics")).send().await.expect("it answers");
            let text = answer.text().await;
            read_metrics(&text.expect("text"), &mut printed);
        }
        let missing: Vec<_> = named
            .iter()
            .filter(|name| !printed.contains_key(*name) && !RARE.contains(&name.as_str()))
            .collect();
        if missing.is_empty() {
            break printed;
        }
        assert!(Instant::now() < deadline, "nobody prints {missing:?}");
        tokio::time::sleep(Duration::from_millis(200)).await;
    };
    for (name, (kind, labels)) in &printed {
        let metric = METRICS.iter().find(|metric| metric.name == name);
        let metric = metric.unwrap_or_else(|| panic!("{name} is not in the table"));
        assert_eq!(kind, metric.kind.as_str(), "{name}");
        let known: BTreeSet<_> = metric.labels.iter().map(|label| (*label).to_owned()).collect();
        assert_eq!(labels, &known, "{name}");
    }
}

/// Series names in what is deployed, parts of histograms as the histogram.
fn named_in_deploy() -> BTreeSet<String> {
    let text = [
        include_str!("../../../../deploy/grafana/omniflow.json"),
        include_str!("../../../../deploy/prometheus/omniflow.rules.yml"),
    ]
    .concat();
    let words = text.split(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_'));
    let series = words.filter(|word| word.starts_with("omniflow_") || word.starts_with("process_"));
    series.map(whole).collect()
}

fn whole(series: &str) -> String {
    let of_histogram = |part: &str| {
        let name = series.strip_suffix(part)?;
        METRICS
            .iter()
            .find(|metric| metric.name == name && metric.kind == Kind::Histogram)
    };
    let found = ["_bucket", "_sum", "_count"].into_iter().find_map(of_histogram);
    found.map_or(series, |metric| metric.name).to_owned()
}

/// Name → kind and labels, `service` and `le` aside.
fn read_metrics(text: &str, printed: &mut BTreeMap<String, (String, BTreeSet<String>)>) {
    let mut kinds = BTreeMap::new();
    for line in text.lines() {
        if let Some(kind) = line.strip_prefix("# TYPE ") {
            let (name, kind) = kind.split_once(' ').expect("a kind");
            kinds.insert(name, kind);
        } else if !line.starts_with('#') && !line.is_empty() {
            let name = line.split(['{', ' ']).next().expect("a name");
            let inside = line.split_once('{').map_or("", |(_, rest)| rest);
            let labels = inside
                .split("=\"")
                .map(|text| text.rsplit(['"', ',', '{']).next().unwrap_or_default());
            let labels: BTreeSet<String> = labels.map(ToOwned::to_owned).collect();
            assert!(labels.contains("service"), "{line}");
            let name = whole(name);
            let labels = labels.into_iter().filter(|label| {
                let word = label.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
                word && !label.is_empty() && label != "service" && label != "le"
            });
            let kind = kinds.get(name.as_str()).copied().unwrap_or_default().to_owned();
            printed.entry(name).or_insert((kind, BTreeSet::new())).1.extend(labels);
        }
    }
}
