//! Tables of ARCHITECTURE.md.

use crate::sources::root;
use std::collections::BTreeMap;

/// The two-column table below a heading: the first column is the key, the second a list of names.
pub(crate) fn lists_under(heading: &str) -> BTreeMap<String, Vec<String>> {
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let rows = rows_under(&text, heading);
    assert!(!rows.is_empty(), "ARCHITECTURE.md has no table under `## {heading}`");
    rows
}

fn rows_under(text: &str, heading: &str) -> BTreeMap<String, Vec<String>> {
    let heading = format!("## {heading}");
    let section = text
        .lines()
        .skip_while(|line| line.trim_end() != heading)
        .skip(1)
        .take_while(|line| !line.starts_with("## "));
    // The first two rows are the header and its rule.
    let rows = section.filter(|line| line.starts_with('|')).skip(2);
    rows.filter_map(|row| {
        let mut cells = row
            .trim()
            .trim_start_matches('|')
            .split('|')
            .map(|cell| cell.trim().trim_matches('`'));
        let key = cells.next()?.to_owned();
        let names = cells
            .next()?
            .split(',')
            .map(|name| name.trim().trim_matches('`').to_owned());
        Some((key, names.filter(|name| !name.is_empty()).collect()))
    })
    .collect()
}

#[test]
fn rows_are_read_up_to_the_next_heading() {
    let text = "## A\nsaid first\n\n| crate | may use |\n|---|---|\n| x | y, `z` |\n| w | |\n\n## B\n| v | u |\n";
    let rows = rows_under(text, "A");
    assert_eq!(rows["x"], ["y", "z"]);
    assert!(rows["w"].is_empty() && rows.len() == 2, "{rows:?}");
    assert!(rows_under(text, "C").is_empty());
}
