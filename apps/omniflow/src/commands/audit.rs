//! `audit …`: who did what by hand.

use std::{io::Write as _, path::PathBuf, process::ExitCode};

use serde_json::{Value, json};
use service::{AuditRow, AuditSearch};

use super::{events::plain, operator};
use crate::{
    cli::{AuditCommand, AuditFilter},
    commands::say,
    config::Config,
    failure::Failure,
};

pub(super) async fn run(command: AuditCommand, config: Config, data_dir: PathBuf) -> Result<ExitCode, Failure> {
    let service = operator::service(&config, &data_dir).await?;
    match command {
        AuditCommand::List {
            filter,
            limit,
            cursor,
            json,
        } => {
            let search = AuditSearch {
                cursor,
                limit: i64::from(limit),
                ..search(filter)
            };
            let page = service.list_audit(&search).await?;
            if json {
                let items: Vec<_> = page.items.iter().map(document).collect();
                say(&json!({ "items": items, "nextCursor": page.next }).to_string());
                return Ok(ExitCode::SUCCESS);
            }
            page.items.iter().for_each(|row| say(&line(row)));
            if let Some(next) = page.next {
                say(&format!("more: --cursor {next}"));
            }
        }
        AuditCommand::Export { filter, operator } => {
            let caller = operator::caller(operator.trim());
            let text = service.export_audit(&caller, &search(filter)).await?;
            let _closed = std::io::stdout().lock().write_all(text.as_bytes());
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn search(filter: AuditFilter) -> AuditSearch {
    AuditSearch {
        category: filter.category,
        outcome: filter.outcome,
        actor_type: None,
        actor_id: filter.actor,
        action: filter.action,
        target_type: None,
        target_id: filter.target,
        from: filter.from,
        to: filter.to,
        ascending: filter.ascending,
        cursor: None,
        limit: 0,
    }
}

fn document(row: &AuditRow) -> Value {
    json!({
        "id": row.id, "actorType": row.actor_type, "actorId": row.actor_id, "action": row.action, "category": row.category,
        "outcome": row.outcome, "targetType": row.target_type, "targetId": row.target_id, "reason": row.reason,
        "requestId": row.request_id, "metadata": row.metadata, "occurredAt": row.occurred_at,
    })
}

fn line(row: &AuditRow) -> String {
    format!(
        "{} {}:{} {} {} {} {}  {}",
        row.occurred_at.format("%Y-%m-%d %H:%M:%S"),
        row.actor_type,
        plain(&row.actor_id),
        plain(&row.action),
        row.outcome,
        plain(&row.target_type),
        plain(&row.target_id),
        plain(row.reason.as_deref().unwrap_or("-")),
    )
}
