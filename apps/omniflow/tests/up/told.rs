//! What log lines say, and what they must not.

use std::path::Path;

use omniflow::driver::Bought;
use serde_json::{Value, json};

use crate::up::telemetry::{TOKEN, TRACE};

/// Lines inside a job's run name the job, its kind, what it is about, its request and its trace.
pub(crate) fn told_what_they_belong_to(log: &str, order: &Bought) {
    let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let failed: Vec<Value> = lines
        .filter(|line| line["message"] == "the panel was not converged")
        .collect();
    let [line] = &failed[..] else {
        panic!("the panel failed once, for {}: {failed:?}", order.id)
    };
    assert_eq!(
        (&line["kind"], &line["trace_id"]),
        (&json!("fulfillment"), &json!(TRACE))
    );
    for name in [
        "job_id",
        "correlation_id",
        "operation_id",
        "timestamp",
        "level",
        "queue",
    ] {
        assert!(!line[name].is_null(), "{name} is missing: {line}");
    }
}

pub(crate) fn no_secret(logs: &[String; 2], dir: &Path, database: &str) {
    let mut secrets: Vec<String> = [
        TOKEN,
        "planted-collector-token",
        "planted-wrong-token",
        "planted_recipient",
        "planted-in-an-answer",
        "vless://",
    ]
    .map(ToOwned::to_owned)
    .to_vec();
    let password = database.split_once("://").and_then(|(_, rest)| rest.split_once('@'));
    let password = password.and_then(|(user, _)| user.split_once(':'));
    secrets.extend(password.map(|(_, password)| password.to_owned()));
    // Keys and tokens of the installation, by their look: long texts of the sandbox's files.
    let sandbox: Value =
        serde_json::from_str(&std::fs::read_to_string(dir.join("sandbox.json")).expect("its file")).expect("JSON");
    collect_tokens(&sandbox, "", &mut secrets);
    assert!(secrets.len() > 5, "the sandbox has credentials: {sandbox}");
    for (name, log) in ["api", "worker"].iter().zip(logs) {
        assert!(log.lines().count() > 3, "{name} wrote a log");
        for secret in &secrets {
            let line = log.lines().find(|line| line.contains(secret.as_str()));
            assert!(line.is_none(), "{name} told {secret}: {line:?}");
        }
    }
}

fn collect_tokens(value: &Value, name: &str, secrets: &mut Vec<String>) {
    match value {
        Value::String(text) if text.len() >= 12 && !text.starts_with("http") && !name.contains("url") => {
            secrets.push(text.clone());
        }
        Value::Object(fields) => fields
            .iter()
            .for_each(|(name, value)| collect_tokens(value, name, secrets)),
        Value::Array(values) => values.iter().for_each(|value| collect_tokens(value, name, secrets)),
        _ => {}
    }
}
