//! What certain code may not say: the domain knows no clock and no disk; only the fulfillment worker changes the panel.

use crate::sources::{code_lines, is_test, read, rust_below};
use std::path::Path;

/// Each word with the reason that is printed.
const NOT_IN_THE_DOMAIN: [(&str, &str); 9] = [
    ("async fn", "decisions are synchronous"),
    (".await", "decisions are synchronous"),
    ("Utc::now", "commands carry their time"),
    ("SystemTime", "commands carry their time"),
    ("Instant::now", "commands carry their time"),
    ("new_v4", "commands carry new ids"),
    ("now_v7", "commands carry new ids"),
    ("std::env", "no I/O"),
    ("std::fs", "no I/O"),
];
/// What cqrs-es makes asynchronous: its trait's method, and the one function behind it.
const ADAPTER: [&str; 4] = [
    "async fn handle(",
    "async fn write_decision",
    "write_decision(self,",
    "sink.write(",
];

#[test]
fn the_domain_is_pure_and_synchronous() {
    let mut found = Vec::new();
    for file in rust_below("domain/src").iter().filter(|file| !is_test(file)) {
        let text = read(file);
        for (number, line) in code_lines(&text).filter(|(_, line)| !ADAPTER.iter().any(|known| line.contains(known))) {
            let words = NOT_IN_THE_DOMAIN.iter().filter(|(word, _)| line.contains(word));
            found.extend(words.map(|(word, why)| format!("{}:{number}: {word}: {why}", file.display())));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Where the panel may be changed: its port, its client, its simulator, and the one file of the fulfillment worker that pushes.
const MAY_WRITE: [&str; 5] = [
    "adapters/ports",
    "adapters/remnawave",
    "apps/sandbox",
    "apps/worker/src/push.rs",
    "tests",
];
const ONLY_NAMED_FOR_WIRING: [&str; 2] = ["apps/omniflow/src/wiring", "apps/worker/src"];

#[test]
fn only_the_fulfillment_worker_changes_the_panel() {
    let writers = writing_methods();
    assert!(writers.len() >= 3, "the port is read: {writers:?}");
    let mut found = Vec::new();
    let product = ["adapters", "apps", "projectors"]
        .iter()
        .flat_map(|folder| rust_below(folder));
    for file in product.filter(|file| !is_test(file) && !MAY_WRITE.iter().any(|allowed| file.starts_with(allowed))) {
        let text = read(&file);
        let wiring = ONLY_NAMED_FOR_WIRING.iter().any(|allowed| file.starts_with(allowed));
        for (number, line) in code_lines(&text) {
            let calls = writers.iter().any(|method| line.contains(&format!(".{method}(")));
            if calls || (line.contains("PanelWriter") && !wiring) {
                found.push(format!("{}:{number}: {}", file.display(), line.trim()));
            }
        }
    }
    assert!(
        found.is_empty(),
        "the panel is changed or its writing port named elsewhere:\n{}",
        found.join("\n")
    );
}

/// The methods of the writing trait, read from the port.
fn writing_methods() -> Vec<String> {
    let text = read(Path::new("adapters/ports/src/panel.rs"));
    let body = text.split_once("pub trait PanelWriter").map_or("", |(_, body)| body);
    let body = body.split_once("\n}").map_or(body, |(body, _)| body);
    let names = body
        .lines()
        .filter_map(|line| line.trim().strip_prefix("async fn ")?.split('(').next());
    names.map(str::to_owned).collect()
}
