//! Files stay small. The golden list names those above the limit with their length; it may only shrink.

use crate::sources::{files, read, root};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

const LONGEST: usize = 400;
const LIST: &str = "tests/golden/long_files.txt";

#[test]
fn no_file_is_longer_than_the_limit_or_its_entry() {
    let listed = listed(&read(Path::new(LIST)));
    let mut long = BTreeMap::new();
    for file in files().iter().filter(|file| is_code(file)) {
        let lines = read(file).lines().count();
        if lines > LONGEST {
            long.insert(file.display().to_string(), lines);
        }
    }
    let grown: Vec<_> = long
        .iter()
        .filter(|(file, lines)| listed.get(*file).is_none_or(|limit| *lines > limit))
        .collect();
    assert!(
        grown.is_empty(),
        "longer than {LONGEST} lines, or than {LIST} says: {grown:?}; split them"
    );
    let expected = long.iter().fold(String::new(), |mut text, (file, lines)| {
        let _ = writeln!(text, "{lines} {file}");
        text
    });
    assert_eq!(
        expected,
        read(Path::new(LIST)),
        "files shrank: shorten {} too",
        root().join(LIST).display()
    );
}

fn listed(text: &str) -> BTreeMap<String, usize> {
    text.lines()
        .filter_map(|line| line.split_once(' '))
        .map(|(lines, file)| (file.to_owned(), lines.parse().unwrap()))
        .collect()
}

fn is_code(file: &Path) -> bool {
    file.extension()
        .is_some_and(|extension| ["rs", "sql", "sh"].iter().any(|known| extension == *known))
}
