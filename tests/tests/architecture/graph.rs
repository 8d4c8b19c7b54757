//! What is compiled at all: banned crates and licences, by the lists of deny.toml.

use crate::crates::cargo;
use crate::licences;
use crate::sources::root;
use std::collections::BTreeSet;
use toml::Value;

/// Name and licence of every crate that this workspace compiles on this machine.
fn compiled() -> BTreeSet<(String, String)> {
    let arguments = [
        "tree",
        "--workspace",
        "--edges",
        "normal,build,dev",
        "--prefix",
        "none",
        "--format",
        "{p}|{l}",
    ];
    let lines = cargo(&arguments);
    let pairs = lines
        .lines()
        .filter_map(|line| line.trim_end_matches(" (*)").split_once('|'));
    pairs
        .filter_map(|(package, licence)| Some((package.split(' ').next()?.to_owned(), licence.trim().to_owned())))
        .collect()
}

fn settings() -> Value {
    toml::from_str(&std::fs::read_to_string(root().join("deny.toml")).unwrap()).unwrap()
}

#[test]
fn no_banned_crate_is_compiled() {
    let settings = settings();
    let banned: Vec<&str> = settings["bans"]["deny"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|ban| ban["crate"].as_str())
        .collect();
    assert!(banned.contains(&"openssl-sys"), "the list is read");
    let compiled = compiled();
    let found: Vec<&String> = compiled
        .iter()
        .map(|(name, _)| name)
        .filter(|name| banned.contains(&name.as_str()))
        .collect();
    assert!(
        found.is_empty(),
        "banned crates are compiled: {found:?}; `cargo tree -i <name>` says why"
    );
    assert!(compiled.len() > 100, "the graph is read: {}", compiled.len());
}

#[test]
fn every_licence_is_allowed() {
    let settings = settings();
    let allowed: Vec<&str> = settings["licenses"]["allow"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Value::as_str)
        .collect();
    let refused: Vec<String> = compiled()
        .into_iter()
        .filter(|(_, licence)| !licences::satisfied(licence, &allowed))
        .map(|(name, licence)| format!("{name}: {licence:?}"))
        .collect();
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}
