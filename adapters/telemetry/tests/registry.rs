#![cfg(test)]
//! The table of metrics is held to the places that report them, and to the document.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use telemetry::registry::{Kind, METRICS, markdown};

/// One place in the code that reports a metric.
#[derive(Debug)]
struct Report {
    file: PathBuf,
    kind: Kind,
    name: String,
    labels: BTreeSet<String>,
}

#[test]
fn what_is_reported_is_in_the_table_with_its_kind_and_its_labels() {
    let table: BTreeMap<_, _> = METRICS.iter().map(|metric| (metric.name, metric)).collect();
    assert_eq!(table.len(), METRICS.len(), "a name stands twice in the table");
    let mut wrong = Vec::new();
    for report in reports() {
        let labels = |metric: &telemetry::registry::Metric| -> BTreeSet<String> {
            metric.labels.iter().map(|label| (*label).to_owned()).collect()
        };
        let file = report.file.display();
        match table.get(report.name.as_str()) {
            Some(metric) if metric.kind == report.kind && labels(metric) == report.labels => {}
            Some(metric) => wrong.push(format!("{file}: {report:?} is in the table as {metric:?}")),
            None => wrong.push(format!(
                "{file}: {report:?} is not in adapters/telemetry/src/registry.rs"
            )),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_is_in_the_table_is_reported() {
    let reported: BTreeSet<String> = reports().into_iter().map(|report| report.name).collect();
    let silent: Vec<_> = METRICS
        .iter()
        .map(|metric| metric.name)
        .filter(|name| !reported.contains(*name))
        .collect();
    assert!(silent.is_empty(), "in the table, and nothing reports them: {silent:?}");
}

#[test]
fn names_carry_their_unit() {
    for metric in METRICS {
        let (name, kind) = (metric.name, metric.kind);
        assert!(name.starts_with("omniflow_") || name.starts_with("process_"), "{name}");
        assert_eq!(name.ends_with("_total"), kind == Kind::Counter, "{name}");
        if kind == Kind::Histogram {
            assert!(name.ends_with("_seconds"), "{name}: the buckets are seconds");
        }
        assert!(metric.meaning.ends_with('.'), "{name}");
    }
}

#[test]
fn the_document_shows_the_table() {
    let text = fs::read_to_string(root().join("docs/metrics.md")).unwrap();
    assert!(
        text.contains(&markdown()),
        "docs/metrics.md: replace its table by what `cargo run -p telemetry --example metrics_table` prints"
    );
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .unwrap()
        .to_owned()
}

fn reports() -> Vec<Report> {
    let mut files = Vec::new();
    for folder in ["adapters", "apps", "projectors"] {
        collect(&root().join(folder), &mut files);
    }
    assert!(files.len() > 100, "the sources were not found");
    files.iter().flat_map(|file| in_file(file)).collect()
}

/// Rust files of the product.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() && !path.ends_with("tests") && !path.ends_with("target") {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs")
            && !path.ends_with("tests.rs")
            // It begins every counter of the table that has no labels.
            && !path.ends_with("telemetry/src/describe.rs")
        {
            files.push(path);
        }
    }
}

fn in_file(file: &Path) -> Vec<Report> {
    let text = fs::read_to_string(file).unwrap();
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    let mut found = Vec::new();
    for (kind, opening) in [
        (Kind::Counter, "counter!("),
        (Kind::Gauge, "gauge!("),
        (Kind::Histogram, "histogram!("),
    ] {
        let calls = code
            .match_indices(opening)
            .filter(|(at, _)| !code[..*at].ends_with("describe_"));
        for (at, _) in calls {
            let inside = balanced(&code[at + opening.len()..]);
            let name = inside
                .trim_start()
                .strip_prefix('"')
                .and_then(|rest| rest.split('"').next());
            found.push(Report {
                file: file.strip_prefix(root()).unwrap().to_owned(),
                kind,
                name: name.unwrap_or("(its name is no literal)").to_owned(),
                labels: labels(inside),
            });
        }
    }
    found
}

/// Up to the bracket that closes the call.
fn balanced(text: &str) -> &str {
    let mut depth = 0_usize;
    for (at, letter) in text.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' if depth == 0 => return &text[..at],
            ')' => depth -= 1,
            _ => {}
        }
    }
    text
}

/// `"label" => value`
fn labels(inside: &str) -> BTreeSet<String> {
    let before_arrows = inside.split("=>").collect::<Vec<_>>();
    let (_, names) = before_arrows.split_last().unwrap();
    names
        .iter()
        .filter_map(|text| text.trim_end().strip_suffix('"')?.rsplit('"').next())
        .map(ToOwned::to_owned)
        .collect()
}
