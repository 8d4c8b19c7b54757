//! `deploy/systemd/*.service`.

use std::collections::BTreeMap;

use super::{file, parses, usable};
use crate::wiring::processes::STOP_LIMIT;

/// Values of a key may be many.
type Unit = BTreeMap<String, BTreeMap<String, Vec<String>>>;

fn unit(name: &str) -> Unit {
    let mut unit = Unit::new();
    let mut section = None;
    for line in file(&format!("deploy/systemd/{name}")).lines().map(str::trim) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(title) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            section = Some(title.to_owned());
            continue;
        }
        let (key, value) = line.split_once('=').unwrap_or_else(|| panic!("{name}: {line}"));
        assert!(!line.ends_with('\\'), "{name}: a line is a line");
        let section = section
            .clone()
            .unwrap_or_else(|| panic!("{name}: {line} before any section"));
        unit.entry(section)
            .or_default()
            .entry(key.to_owned())
            .or_default()
            .push(value.to_owned());
    }
    unit
}

fn one<'a>(unit: &'a Unit, section: &str, key: &str) -> &'a str {
    match unit[section].get(key).map(Vec::as_slice) {
        Some([value]) => value,
        other => panic!("[{section}] {key}: {other:?}"),
    }
}

const UNITS: [&str; 3] = [
    "omniflow-migrate.service",
    "omniflow-api.service",
    "omniflow-worker.service",
];

#[test]
fn every_unit_runs_a_command_that_exists() {
    for name in UNITS {
        let unit = unit(name);
        let start = one(&unit, "Service", "ExecStart");
        let arguments = start.strip_prefix("/usr/local/bin/omniflow ").unwrap();
        parses(&arguments.split(' ').collect::<Vec<_>>());
        assert!(
            unit.keys()
                .all(|section| ["Unit", "Service", "Install"].contains(&section.as_str()))
        );
        let given = unit["Service"].get("Environment").into_iter().flatten();
        let settings = given.map(|line| line.split_once('=').unwrap());
        usable(
            &settings
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect(),
        );
        assert!(one(&unit, "Service", "EnvironmentFile").starts_with("/etc/omniflow/"));
    }
}

#[test]
fn processes_start_after_the_migration_and_again_after_a_crash() {
    for name in &UNITS[1..] {
        let unit = unit(name);
        assert_eq!(one(&unit, "Unit", "Requires"), "omniflow-migrate.service");
        assert!(one(&unit, "Unit", "After").contains("omniflow-migrate.service"));
        assert_eq!(one(&unit, "Service", "Restart"), "always");
        let stop: u64 = one(&unit, "Service", "TimeoutStopSec").parse().unwrap();
        assert!(stop > STOP_LIMIT.as_secs(), "{name}");
        assert_eq!(one(&unit, "Install", "WantedBy"), "multi-user.target");
    }
    let migrate = unit(UNITS[0]);
    assert_eq!(one(&migrate, "Service", "Type"), "oneshot");
    assert_eq!(one(&migrate, "Service", "RemainAfterExit"), "yes");
}

#[test]
fn every_unit_is_shut_in() {
    for name in UNITS {
        let unit = unit(name);
        for (key, value) in [
            ("DynamicUser", "yes"),
            ("NoNewPrivileges", "yes"),
            ("ProtectSystem", "strict"),
            ("ProtectHome", "yes"),
            ("PrivateTmp", "yes"),
            ("PrivateDevices", "yes"),
            ("CapabilityBoundingSet", ""),
            ("RestrictAddressFamilies", "AF_INET AF_INET6 AF_UNIX"),
            ("UMask", "0077"),
        ] {
            assert_eq!(one(&unit, "Service", key), value, "{name}: {key}");
        }
    }
}
