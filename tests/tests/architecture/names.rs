//! Names that say nothing, and paths of somebody's machine.

use crate::sources::{files, read};
use std::path::Path;

/// A file or folder of this name has no subject.
const EMPTY: [&str; 11] = [
    "env", "helper", "helpers", "common", "util", "utils", "manager", "task", "tasks", "misc", "shared",
];

#[test]
fn every_file_is_named_for_its_subject() {
    let stems = |file: &Path| -> Vec<String> {
        let parts = file
            .components()
            .map(|part| Path::new(part.as_os_str()).file_stem().unwrap_or_default());
        parts.map(|part| part.to_string_lossy().into_owned()).collect()
    };
    let empty: Vec<_> = files()
        .into_iter()
        .filter(|file| stems(file).iter().any(|stem| EMPTY.contains(&stem.as_str())))
        .collect();
    let code: Vec<_> = empty
        .iter()
        .filter(|file| file.extension().is_some_and(|extension| extension == "rs"))
        .collect();
    assert!(code.is_empty(), "{code:?}");
}

#[test]
fn no_path_of_a_machine_is_written_down() {
    // Put together here, so that this file does not hold them.
    let places = ["work", "home/user", "Users"].map(|place| format!("/{place}/"));
    let mut found = Vec::new();
    for file in files() {
        let text = read(&file);
        let lines = text
            .lines()
            .enumerate()
            .filter(|(_, line)| places.iter().any(|place| names_path(line, place)));
        found.extend(lines.map(|(index, line)| format!("{}:{}: {}", file.display(), index + 1, line.trim())));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// The path stands at the start of a word: `network/work/` is none.
fn names_path(line: &str, place: &str) -> bool {
    line.match_indices(place).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        before.is_none_or(|letter| letter.is_whitespace() || "\"'`=(:".contains(letter))
    })
}
