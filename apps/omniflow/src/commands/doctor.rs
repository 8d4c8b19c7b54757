//! `doctor`: what is wrong with an installation, and what to do about it.

mod checks;
mod notices;
mod upkeep;

use std::{path::PathBuf, process::ExitCode};

use serde_json::json;

use crate::{cli::JsonArgs, commands::say, config::Config, failure::Failure, wiring::database::Database};

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    Good,
    /// It works, but somebody should know.
    Warning,
    /// It does not work, or not safely.
    Bad,
}

/// The result of one check.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Finding {
    check: &'static str,
    level: Level,
    said: String,
    /// What to do; empty when there is nothing to do.
    advice: String,
}

impl Finding {
    fn good(check: &'static str, said: impl Into<String>) -> Self {
        Self {
            check,
            level: Level::Good,
            said: said.into(),
            advice: String::new(),
        }
    }

    fn warning(check: &'static str, said: impl Into<String>, advice: impl Into<String>) -> Self {
        Self {
            check,
            level: Level::Warning,
            said: said.into(),
            advice: advice.into(),
        }
    }

    fn bad(check: &'static str, said: impl Into<String>, advice: impl Into<String>) -> Self {
        Self {
            check,
            level: Level::Bad,
            said: said.into(),
            advice: advice.into(),
        }
    }
}

/// Exit code 1 when something is bad; warnings do not count.
pub(super) async fn run(args: JsonArgs, config: Config, data_dir: PathBuf) -> Result<ExitCode, Failure> {
    let findings = match Database::find(&config, &data_dir).await {
        Ok(database) => {
            let mut findings = checks::all(&database, &config).await;
            findings.extend(notices::findings(&database, &config).await);
            findings
        }
        Err(failure) => vec![Finding::bad(
            "server",
            failure.to_string(),
            "start a server, or name one",
        )],
    };
    let is_bad = findings.iter().any(|finding| finding.level == Level::Bad);
    if args.json {
        let rows: Vec<_> = findings.iter().map(row).collect();
        say(&json!({"healthy": !is_bad, "findings": rows}).to_string());
    } else {
        findings.iter().for_each(print);
    }
    Ok(if is_bad { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

fn row(finding: &Finding) -> serde_json::Value {
    json!({"check": finding.check, "level": name(finding.level), "said": finding.said, "advice": finding.advice})
}

fn print(finding: &Finding) {
    say(&format!(
        "{:<8} {:<13} {}",
        name(finding.level),
        finding.check,
        finding.said
    ));
    if !finding.advice.is_empty() {
        say(&format!("{:<8} {:<13} -> {}", "", "", finding.advice));
    }
}

fn name(level: Level) -> &'static str {
    match level {
        Level::Good => "ok",
        Level::Warning => "warning",
        Level::Bad => "BAD",
    }
}
