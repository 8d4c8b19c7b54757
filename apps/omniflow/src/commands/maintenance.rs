//! `maintenance show|on|off|history`: the window, from a terminal.

use std::{path::PathBuf, process::ExitCode};

use chrono::{DateTime, Utc};
use serde_json::json;
use service::{MaintenanceView, Service, SetMaintenance};

use super::operator;
use crate::{
    cli::{MaintenanceCommand, WindowArgs},
    commands::{events::plain, say},
    config::Config,
    failure::Failure,
};

pub(super) async fn run(command: MaintenanceCommand, config: Config, data_dir: PathBuf) -> Result<ExitCode, Failure> {
    let service = operator::service(&config, &data_dir).await?;
    match command {
        MaintenanceCommand::Show(args) => show(&service.maintenance().await?, args.json)?,
        MaintenanceCommand::On(args) => set(&service, &opened(args)?).await?,
        MaintenanceCommand::Off { operator, reason } => {
            let request = SetMaintenance {
                active: false,
                operator_id: named(&operator)?,
                reason: reason.unwrap_or_default(),
                notice_ru: String::new(),
                notice_en: String::new(),
                expected_return_at: None,
            };
            set(&service, &request).await?;
        }
        MaintenanceCommand::History { limit, json } => {
            for flip in service.maintenance_history(i64::from(limit)).await? {
                let who = flip.actor_id.as_deref().unwrap_or(&flip.actor_type);
                if json {
                    say(&json!({
                        "action": flip.action,
                        "source": flip.source,
                        "reason": flip.reason,
                        "actorType": flip.actor_type,
                        "actorId": flip.actor_id,
                        "occurredAt": flip.occurred_at,
                    })
                    .to_string());
                } else {
                    say(&format!(
                        "{}  {:<9} {:<9} by {}: {}",
                        moment(flip.occurred_at),
                        plain(&flip.action),
                        plain(&flip.source),
                        plain(who),
                        words(&flip.reason)
                    ));
                }
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

async fn set(service: &Service, request: &SetMaintenance) -> Result<(), Failure> {
    let caller = operator::caller(&request.operator_id);
    show(&service.set_maintenance(&caller, request).await?, false)
}

fn opened(args: WindowArgs) -> Result<SetMaintenance, Failure> {
    Ok(SetMaintenance {
        active: true,
        operator_id: named(&args.operator)?,
        reason: args.reason.unwrap_or_default(),
        notice_ru: args.notice_ru.unwrap_or_default(),
        notice_en: args.notice_en.unwrap_or_default(),
        expected_return_at: args.until,
    })
}

fn named(operator: &str) -> Result<String, Failure> {
    let operator = operator.trim();
    if operator.is_empty() || operator.chars().any(char::is_control) {
        return Err(Failure::Usage("an operator is required".to_owned()));
    }
    Ok(operator.to_owned())
}

fn show(view: &MaintenanceView, as_json: bool) -> Result<(), Failure> {
    if as_json {
        say(&serde_json::to_string(view).map_err(Failure::unavailable)?);
        return Ok(());
    }
    match (view.active, view.activated_at, view.cleared_at) {
        (true, Some(since), _) => say(&format!(
            "closed for maintenance since {} ({}): {}",
            moment(since),
            view.source,
            words(&view.reason)
        )),
        (_, _, Some(cleared)) => say(&format!("open; the last window ended {}", moment(cleared))),
        _ => say("open"),
    }
    if let Some(at) = view.expected_return_at {
        say(&format!("expected to end {}", moment(at)));
    }
    for (language, notice) in [("ru", &view.notice_ru), ("en", &view.notice_en)] {
        if !notice.is_empty() {
            say(&format!("notice {language}: {}", plain(notice)));
        }
    }
    Ok(())
}

fn moment(at: DateTime<Utc>) -> String {
    at.format("%Y-%m-%d %H:%M:%SZ").to_string()
}

fn words(reason: &str) -> String {
    if reason.is_empty() {
        "no reason given".to_owned()
    } else {
        plain(reason)
    }
}
