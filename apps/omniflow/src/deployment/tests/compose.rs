//! `deploy/compose.yaml`.

use std::collections::BTreeMap;

use queue::QueueSizes;

use super::{
    file, parses, settings, usable,
    yaml::{Node, parse},
};
use crate::wiring::processes::{FOLLOWING_CONNECTIONS, STOP_LIMIT, worker_connections};

/// Names that the database's image reads, and the one that our script for it reads.
const OF_THE_IMAGE: [&str; 4] = [
    "POSTGRES_USER",
    "POSTGRES_DB",
    "POSTGRES_PASSWORD",
    "OMNIFLOW_APP_PASSWORD",
];
const OURS: [&str; 3] = ["migrate", "api", "worker"];

fn compose() -> Node {
    parse(&file("deploy/compose.yaml"))
}

fn environment(compose: &Node, service: &str) -> BTreeMap<String, String> {
    let path = ["services", service, "environment"];
    let given = compose.at(&path).map(|_| compose.map(&path)).into_iter().flatten();
    given
        .map(|(name, node)| (name.clone(), node.text(&[]).to_owned()))
        .collect()
}

#[test]
fn the_services_are_the_installation() {
    let compose = compose();
    let services: Vec<_> = compose.map(&["services"]).keys().map(String::as_str).collect();
    assert_eq!(services, ["api", "migrate", "postgres", "worker"]);
    assert!(
        compose.at(&["services", "postgres", "ports"]).is_none(),
        "the database is not published"
    );
    assert_eq!(compose.list(&["services", "postgres", "networks"]), ["inside"]);
    assert_eq!(compose.text(&["networks", "inside", "internal"]), "true");
    for port in compose.list(&["services", "api", "ports"]) {
        assert!(
            port.starts_with("127.0.0.1:"),
            "TLS comes from a proxy on the host: {port}"
        );
    }
    for service in ["api", "worker"] {
        let after = ["services", service, "depends_on", "migrate", "condition"];
        assert_eq!(compose.text(&after), "service_completed_successfully");
    }
    let after = ["services", "migrate", "depends_on", "postgres", "condition"];
    assert_eq!(compose.text(&after), "service_healthy");
}

#[test]
fn every_command_exists() {
    let compose = compose();
    for service in OURS {
        assert_eq!(compose.text(&["services", service, "image"]), "omniflow");
        parses(&compose.list(&["services", service, "command"]));
    }
    for service in ["api", "worker"] {
        let test = compose.list(&["services", service, "healthcheck", "test"]);
        let [cmd, program, arguments @ ..] = test.as_slice() else {
            panic!("{test:?}")
        };
        assert_eq!((*cmd, *program), ("CMD", "omniflow"));
        parses(arguments);
    }
}

#[test]
fn every_setting_exists_and_can_be_used() {
    let compose = compose();
    for service in OURS {
        usable(&environment(&compose, service));
    }
    for (service, files) in [
        ("postgres", ["postgres.env"]),
        ("migrate", ["migrate.env"]),
        ("api", ["omniflow.env"]),
        ("worker", ["omniflow.env"]),
    ] {
        assert_eq!(compose.list(&["services", service, "env_file"]), files);
    }
    usable(&settings(&file("deploy/migrate.env.example")));
    let named: Vec<_> = settings(&file("deploy/postgres.env.example")).into_keys().collect();
    let mut known = OF_THE_IMAGE.map(str::to_owned);
    known.sort();
    assert_eq!(named, known);
    let script = file("deploy/postgres/roles.sh");
    for name in script.split('$').skip(1).filter_map(|rest| rest.split('"').next()) {
        assert!(OF_THE_IMAGE.contains(&name), "{name} is set nowhere");
    }
}

#[test]
fn nobody_is_killed_before_it_stopped_by_itself() {
    let compose = compose();
    for service in ["api", "worker"] {
        let grace = compose.text(&["services", service, "stop_grace_period"]);
        let seconds: u64 = grace.trim_end_matches('s').parse().unwrap();
        assert!(seconds > STOP_LIMIT.as_secs(), "{service}: {grace}");
    }
}

#[test]
fn the_database_has_room_for_two_of_each() {
    let api = 12 + 1;
    let worker = worker_connections(QueueSizes::default()) + FOLLOWING_CONNECTIONS + 3;
    let compose = compose();
    let command = compose.list(&["services", "postgres", "command"]);
    let most: u32 = command
        .iter()
        .find_map(|word| word.strip_prefix("max_connections="))
        .unwrap()
        .parse()
        .unwrap();
    assert!(most >= 2 * (api + worker) + 10, "{most}");
    let said = format!("api {api} and worker {worker} connections each");
    assert!(file("deploy/compose.yaml").contains(&said), "{said}");
    let table = format!("| `api` | {api} |\n| `worker` | {worker} |");
    assert!(file("deploy/README.md").contains(&table), "{table}");
    assert!(file("README.md").contains(&format!("That is {worker};")));
}

#[test]
fn names_of_secrets_are_files_that_are_never_committed() {
    assert!(file(".gitignore").lines().any(|line| line == "deploy/*.env"));
    assert!(file(".dockerignore").lines().any(|line| line == "deploy/*.env"));
    for name in ["deploy/postgres.env.example", "deploy/migrate.env.example"] {
        for (key, value) in settings(&file(name)) {
            let secret = key.contains("PASSWORD");
            assert!(!secret || value.is_empty(), "{name} holds a {key}");
        }
    }
}
