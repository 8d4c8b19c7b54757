//! `entitlements …`: what an operator asks of one right.

use std::{path::PathBuf, process::ExitCode};

use domain::ids::EntitlementId;
use serde::Serialize;
use service::{AcceptedOperation, Caller, ChangeEntitlement, ChangeRequest, EntitlementView, entitlements::Fields};

use super::{events::plain, operator};
use crate::{
    cli::{EntitlementsCommand, PauseArgs},
    commands::say,
    config::Config,
    failure::Failure,
};

pub(super) async fn run(command: EntitlementsCommand, config: Config, data_dir: PathBuf) -> Result<ExitCode, Failure> {
    // What is wrong with the words is said before any server is looked for.
    let asked = asked(command)?;
    let service = operator::service(&config, &data_dir).await?;
    match asked {
        Asked::Show { id, json } => {
            let view = service.get_entitlement(id).await?;
            if json {
                say(&document(&view)?);
            } else {
                show(&view);
            }
        }
        Asked::Change { change, caller, json } => {
            let key = operator::keyed("entitlements change", &change)?;
            tell(&service.change_entitlement(&caller, &key, &change).await?.value, json)?;
        }
        Asked::Pause { args, caller, reason } => {
            let (id, key) = (args.id.into(), operator::keyed("entitlements pause", &args.id)?);
            tell(
                &service.pause_entitlement(&caller, &key, id, reason).await?.value,
                args.json,
            )?;
        }
        Asked::Resume { args, caller, reason } => {
            let (id, key) = (args.id.into(), operator::keyed("entitlements resume", &args.id)?);
            tell(
                &service.resume_entitlement(&caller, &key, id, reason).await?.value,
                args.json,
            )?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

enum Asked {
    Show {
        id: EntitlementId,
        json: bool,
    },
    Change {
        change: ChangeEntitlement,
        caller: Caller,
        json: bool,
    },
    Pause {
        args: PauseArgs,
        caller: Caller,
        reason: String,
    },
    Resume {
        args: PauseArgs,
        caller: Caller,
        reason: String,
    },
}

fn asked(command: EntitlementsCommand) -> Result<Asked, Failure> {
    Ok(match command {
        EntitlementsCommand::Show { id, json } => Asked::Show { id: id.into(), json },
        EntitlementsCommand::Pause(args) => {
            let (caller, reason) = said(&args.operator, &args.reason)?;
            Asked::Pause { args, caller, reason }
        }
        EntitlementsCommand::Resume(args) => {
            let (caller, reason) = said(&args.operator, &args.reason)?;
            Asked::Resume { args, caller, reason }
        }
        EntitlementsCommand::Change {
            id,
            operation,
            ends_at,
            traffic,
            devices,
            squads,
            no_squads,
            effective_at,
            reason,
            operator,
            json,
        } => {
            let fields = Fields {
                ends_at,
                traffic_allowance_bytes: traffic.map(|most| most.0),
                device_limit: devices.map(|most| most.0),
                squad_ids: Some(squads).filter(|squads| no_squads || !squads.is_empty()),
            };
            let request =
                ChangeRequest::parse(&operation, fields).map_err(|refusal| Failure::Usage(refusal.to_string()))?;
            let (caller, reason) = said(&operator, &reason)?;
            let change = ChangeEntitlement {
                entitlement_id: id.into(),
                request,
                effective_at,
                reason: Some(reason),
            };
            Asked::Change { change, caller, json }
        }
    })
}

/// Who asks, and why: both are kept beside the events.
fn said(operator: &str, reason: &str) -> Result<(Caller, String), Failure> {
    let usable = |text: &str| {
        let text = text.trim().to_owned();
        let fits = !text.is_empty() && text.chars().count() <= 500 && !text.chars().any(char::is_control);
        fits.then_some(text)
    };
    match (usable(operator), usable(reason)) {
        (Some(operator), Some(reason)) => Ok((operator::caller(&operator), reason)),
        _ => Err(Failure::Usage(
            "a reason and an operator of 1 to 500 characters are required".to_owned(),
        )),
    }
}

fn document(value: &impl Serialize) -> Result<String, Failure> {
    serde_json::to_string(value).map_err(Failure::unavailable)
}

fn tell(accepted: &AcceptedOperation, json: bool) -> Result<(), Failure> {
    say(&if json {
        document(accepted)?
    } else {
        format!(
            "operation {}: {} {}",
            accepted.id,
            plain(&accepted.operation),
            accepted.status
        )
    });
    Ok(())
}

fn show(view: &EntitlementView) {
    let most = |number: Option<String>| number.unwrap_or_else(|| "unlimited".to_owned());
    let time = |at: Option<chrono::DateTime<chrono::Utc>>| at.map_or_else(|| "-".to_owned(), |at| at.to_rfc3339());
    say(&format!("entitlement   {}", view.id));
    say(&format!(
        "subscription  {}  customer {}",
        view.subscription_id, view.customer_id
    ));
    say(&format!("plan          {}", plain(&view.plan_code)));
    say(&format!(
        "time          {} to {}, grace {} s",
        time(view.starts_at),
        time(view.ends_at),
        view.grace_seconds
    ));
    say(&format!(
        "limits        traffic {}, devices {}, squads {}",
        most(view.traffic_allowance_bytes.map(|bytes| bytes.to_string())),
        most(view.device_limit.map(|most| most.to_string())),
        view.squad_ids
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(" "),
    ));
    let since = view
        .paused_at
        .map(|at| format!(" since {}", at.to_rfc3339()))
        .unwrap_or_default();
    say(&format!(
        "access        {}{since}, paused before for {} s",
        view.access, view.paused_seconds
    ));
    say(&format!(
        "panel         shows version {} of {}, user {}, {}",
        view.applied_version,
        view.desired_version,
        view.remote_user_id.map_or_else(|| "-".to_owned(), |id| id.to_string()),
        view.remote_status.as_deref().unwrap_or("never seen"),
    ));
    for drift in &view.open_drifts {
        say(&format!("drift         {}", plain(drift)));
    }
    for one in &view.open_operations {
        let due = one
            .effective_at
            .map(|at| format!(", not before {}", at.to_rfc3339()))
            .unwrap_or_default();
        say(&format!(
            "under way     {} {} for version {}{due}",
            one.id,
            plain(&one.operation),
            one.version
        ));
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::cli::{Cli, Command};

    fn parse(words: &[&str]) -> Result<Asked, Failure> {
        let id = "01960000-0000-7000-8000-000000000001";
        let words = ["omniflow", "entitlements"]
            .iter()
            .chain(words)
            .map(|word| if *word == "ID" { id } else { word });
        let cli = Cli::try_parse_from(words).map_err(|error| Failure::Usage(error.to_string()))?;
        let Command::Entitlements(command) = cli.command else {
            panic!("another command");
        };
        asked(command)
    }

    #[test]
    fn a_change_is_read_from_its_words() {
        let Ok(Asked::Change { change, caller, .. }) = parse(&[
            "change",
            "ID",
            "set_limits",
            "--traffic",
            "unlimited",
            "--devices",
            "5",
            "--reason",
            " ticket 812 ",
        ]) else {
            panic!("not read");
        };
        let limits = domain::entitlement::Asked::Limits {
            traffic_bytes: Some(domain::entitlement::Limit::Unlimited),
            devices: Some(domain::entitlement::Limit::AtMost(5)),
        };
        assert_eq!(change.request, ChangeRequest::Change(limits));
        assert_eq!(
            (change.reason.as_deref(), caller.actor.as_str()),
            (Some("ticket 812"), "operator:cli")
        );
        assert!(parse(&["change", "ID", "set_squads", "--no-squads", "--reason", "x"]).is_ok());
        assert!(parse(&["pause", "ID", "--reason", "holiday"]).is_ok());
    }

    #[test]
    fn what_makes_no_sense_is_wrong_usage() {
        for words in [
            &["change", "ID", "teleport", "--reason", "x"][..],
            &["change", "ID", "extend", "--reason", "x"],
            &["change", "ID", "set_limits", "--traffic", "many", "--reason", "x"],
            &["change", "ID", "enable"],
            &["change", "ID", "enable", "--reason", "  "],
            &["resume", "ID", "--reason", "a\u{1b}[2J"],
        ] {
            assert!(matches!(parse(words), Err(Failure::Usage(_))), "{words:?}");
        }
    }
}
