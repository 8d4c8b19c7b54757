//! `tests/README.md` names tests: those of public failures, and those behind what the README says of operations. A name is a test.

use crate::sources::{files, is_test, read};
use std::collections::BTreeSet;
use std::path::Path;

/// (test, file) of every row whose last two cells are a name in backticks and a path.
fn named() -> BTreeSet<(String, String)> {
    let text = read(Path::new("tests/README.md"));
    let rows = text.lines().filter(|line| line.starts_with('|'));
    rows.filter_map(|row| {
        let cells: Vec<_> = row.trim().trim_matches('|').split('|').map(str::trim).collect();
        let [.., test, file] = cells.as_slice() else {
            return None;
        };
        let test = test.strip_prefix('`')?.strip_suffix('`')?;
        Path::new(file)
            .extension()
            .is_some_and(|extension| extension == "rs")
            .then(|| (test.to_owned(), (*file).to_owned()))
    })
    .collect()
}

/// Names of the functions of a text that are called as a public failure is: `b01_…`.
fn failures(text: &str) -> impl Iterator<Item = &str> {
    text.split("fn ").skip(1).filter_map(|rest| {
        let name = rest.split('(').next()?;
        let mut letters = name.chars();
        let numbered = letters.next() == Some('b')
            && letters.by_ref().take(2).all(|letter| letter.is_ascii_digit())
            && letters.next() == Some('_');
        numbered.then_some(name)
    })
}

#[test]
fn every_named_test_exists_where_it_is_said_to_be() {
    let named = named();
    assert!(named.len() > 60, "the rows are read: {}", named.len());
    let missing: Vec<_> = named
        .iter()
        .filter(|(test, file)| !read(Path::new(file)).contains(&format!("fn {test}(")))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn every_test_of_a_public_failure_is_named() {
    let named = named();
    let mut unnamed = Vec::new();
    let rust = |file: &Path| file.extension().is_some_and(|extension| extension == "rs");
    for file in files().iter().filter(|file| rust(file) && is_test(file)) {
        let (text, file) = (read(file), file.display().to_string());
        let tests = failures(&text).filter(|test| !named.contains(&((*test).to_owned(), file.clone())));
        unnamed.extend(tests.map(|test| format!("{file}: {test}")));
    }
    assert!(unnamed.is_empty(), "{}", unnamed.join("\n"));
}
