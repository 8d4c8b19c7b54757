//! `config check` and `config env-example`.

use std::process::ExitCode;

use serde_json::json;

use crate::{
    cli::{ConfigCommand, JsonArgs},
    commands::say,
    config::{Config, Invalid, KEYS, Vars, env_example},
};

pub fn run(command: &ConfigCommand, vars: &Vars) -> ExitCode {
    match command {
        ConfigCommand::EnvExample => {
            say(env_example().trim_end());
            ExitCode::SUCCESS
        }
        ConfigCommand::Check(args) => check(*args, vars),
    }
}

/// Shows where each value comes from, never a secret itself.
fn check(args: JsonArgs, vars: &Vars) -> ExitCode {
    let problems = match Config::read(vars) {
        Ok(_) => Vec::new(),
        Err(Invalid(problems)) => problems,
    };
    let settings: Vec<_> = KEYS
        .iter()
        .map(|key| {
            let given = vars.is_set(key.name);
            let shown = match (given, key.secret) {
                (true, true) => Some("set".to_owned()),
                (true, false) => vars.text(key.name),
                (false, _) => key.default.map(str::to_owned),
            };
            (key.name, shown, if given { "given" } else { "default" })
        })
        .collect();
    if args.json {
        let settings: Vec<_> = settings
            .iter()
            .map(|(name, value, origin)| json!({"name": name, "value": value, "origin": origin}))
            .collect();
        let problems: Vec<_> = problems
            .iter()
            .map(|problem| json!({"name": problem.name, "reason": problem.reason}))
            .collect();
        say(&json!({"usable": problems.is_empty(), "problems": problems, "settings": settings}).to_string());
    } else {
        for (name, value, origin) in &settings {
            say(&format!("{name:<34} {origin:<8} {}", value.as_deref().unwrap_or("-")));
        }
        for problem in &problems {
            say(&format!("cannot be used: {problem}"));
        }
    }
    if problems.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(2)
    }
}
