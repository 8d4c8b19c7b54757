//! What lies in `deploy/` against the code: every command exists, every setting exists and can be used, every figure is the code's.

mod compose;
mod image;
mod units;
mod yaml;

use std::{collections::BTreeMap, path::Path};

use crate::config::{Config, KEYS, Vars};

fn file(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The command line, as clap reads it.
#[track_caller]
fn parses(arguments: &[&str]) {
    let line = std::iter::once("omniflow").chain(arguments.iter().copied());
    if let Err(error) = crate::command().try_get_matches_from(line) {
        panic!("{arguments:?} is no command: {error}");
    }
}

/// Names and values that a process gets; all of ours have to exist and to be usable together.
#[track_caller]
fn usable(settings: &BTreeMap<String, String>) {
    for name in settings.keys() {
        assert!(KEYS.iter().any(|key| key.name == name), "there is no setting {name}");
    }
    if let Err(error) = Config::read(&Vars::from_map(settings.clone())) {
        panic!("{settings:?}: {error}");
    }
}

/// The `NAME=value` lines of a file of settings.
fn settings(text: &str) -> BTreeMap<String, String> {
    text.lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty())
        .map(|line| line.split_once('=').unwrap_or_else(|| panic!("no setting: {line}")))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}
