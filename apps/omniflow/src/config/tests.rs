use std::collections::{BTreeMap, BTreeSet};

use super::*;

fn vars(pairs: &[(&str, &str)]) -> Vars {
    Vars::from_map(
        pairs
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect::<BTreeMap<_, _>>(),
    )
}

#[test]
fn defaults_are_usable() {
    let config = Config::read(&vars(&[])).expect("the defaults can be used");
    assert_eq!(
        (config.queues.critical, config.queues.default, config.queues.bulk),
        (16, 8, 4)
    );
    assert!(
        config.panel.is_none() && config.cryptobot.is_none() && config.goods.is_none() && config.data_key.is_none()
    );
}

#[test]
fn every_problem_is_told_at_once_and_no_value_is_shown() {
    let given = vars(&[
        ("APP_HTTP_ADDR", "nowhere"),
        ("APP_METRICS_ENABLED", "perhaps"),
        ("APP_DATA_ENCRYPTION_KEY", "c2hvcnQ="),
        ("APP_REMNAWAVE_URL", "https://panel.example"),
        ("APP_QUEUE_BULK_WORKERS", "-1"),
        ("APP_OPERATOR_TOKEN", "hunter2"),
        ("APP_HTTP_ADRR", "127.0.0.1:1"),
    ]);
    let message = Config::read(&given).err().expect("seven problems").to_string();
    for name in [
        "APP_HTTP_ADDR:",
        "APP_METRICS_ENABLED:",
        "APP_DATA_ENCRYPTION_KEY:",
        "APP_REMNAWAVE_TOKEN:",
        "APP_QUEUE_BULK_WORKERS:",
        "APP_OPERATOR_TOKEN:",
        "APP_HTTP_ADRR: there is no such setting",
    ] {
        assert!(message.contains(name), "{name} is missing in: {message}");
    }
    assert!(
        !message.contains("hunter2") && !message.contains("c2hvcnQ="),
        "{message}"
    );
}

#[test]
fn every_setting_is_read_and_every_read_setting_is_documented() {
    let vars = vars(&[]);
    let _config = Config::read(&vars);
    let documented: BTreeSet<_> = KEYS.iter().map(|key| key.name).collect();
    assert_eq!(vars.names_read(), documented);
}

#[test]
fn the_example_file_is_the_generated_one() {
    let landed =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../.env.example")).unwrap_or_default();
    assert_eq!(landed, env_example(), "run: omniflow config env-example > .env.example");
}

#[test]
fn a_secret_may_come_from_a_file_and_the_environment_wins_over_the_env_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("token");
    std::fs::write(&path, "a-token-of-enough-length\n").expect("written");
    let given = vars(&[("APP_OPERATOR_TOKEN_FILE", path.to_str().unwrap_or_default())]);
    assert!(Config::read(&given).expect("usable").operator_token.is_some());
    assert!(given.is_set("APP_OPERATOR_TOKEN"));
}
