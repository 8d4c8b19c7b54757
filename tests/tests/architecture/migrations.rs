//! A migration that has landed is never edited, and no two have one number.

use crate::sources::{read, root};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

const LIST: &str = "tests/golden/migrations.txt";

/// Name and SHA-256 of each, in order: a new one adds its line, a line never changes.
#[test]
fn b90_what_has_landed_is_not_edited() {
    let mut names: Vec<_> = fs::read_dir(root().join("migrations"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| Path::new(name).extension().is_some_and(|extension| extension == "sql"))
        .collect();
    names.sort();
    let listed = names.iter().fold(String::new(), |mut text, name| {
        let bytes = fs::read(root().join("migrations").join(name)).unwrap();
        assert!(!bytes.contains(&b'\r'), "{name} has line ends of another system");
        let _ = writeln!(
            text,
            "{} {name}",
            secrets::digest::hex(&secrets::digest::sha256(&bytes))
        );
        text
    });
    assert_eq!(listed, read(Path::new(LIST)), "see {LIST}");
}

#[test]
fn b92_every_number_is_taken_once() {
    let names: Vec<_> = read(Path::new(LIST)).lines().map(str::to_owned).collect();
    let numbers: BTreeSet<_> = names.iter().filter_map(|line| line.split([' ', '_']).nth(1)).collect();
    assert_eq!(numbers.len(), names.len());
}
