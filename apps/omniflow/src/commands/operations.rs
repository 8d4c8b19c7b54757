//! `operations …`: what became of fulfillment operations, and a person's retry or cancel. Never a body of the panel.

use std::{path::PathBuf, process::ExitCode};

use domain::ids::OperationId;
use serde_json::{Value, json};
use service::{HistoryView, OperationRow, OperationSearch, Service};

use super::{events::plain, operator};
use crate::{
    cli::{OperationChange, OperationsCommand},
    commands::say,
    config::Config,
    failure::Failure,
};

pub(super) async fn run(command: OperationsCommand, config: Config, data_dir: PathBuf) -> Result<ExitCode, Failure> {
    let service = operator::service(&config, &data_dir).await?;
    match command {
        OperationsCommand::List {
            status,
            operation,
            entitlement,
            limit,
            cursor,
            json,
        } => {
            let search = OperationSearch {
                status: (status != "all").then_some(status),
                operation,
                entitlement_id: entitlement,
                cursor,
                limit: i64::from(limit),
            };
            list(&service, &search, json).await?;
        }
        OperationsCommand::Show { id, json } => show(&service, id.into(), json).await?,
        OperationsCommand::Retry(change) => {
            let caller = operator::caller_because(&change.operator, &change.reason)?;
            service.retry_operation(&caller, change.id.into()).await?;
            tell(&service, &change).await?;
        }
        OperationsCommand::Cancel(change) => {
            let caller = operator::caller_because(&change.operator, &change.reason)?;
            service.cancel_operation(&caller, change.id.into()).await?;
            tell(&service, &change).await?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

async fn list(service: &Service, search: &OperationSearch, as_json: bool) -> Result<(), Failure> {
    let page = service.list_operations(search).await?;
    if as_json {
        let items: Vec<_> = page.items.iter().map(document).collect();
        say(&json!({ "items": items, "nextCursor": page.next }).to_string());
        return Ok(());
    }
    if page.items.is_empty() {
        say("there is no such operation");
    }
    page.items.iter().for_each(|row| say(&line(row)));
    if let Some(next) = page.next {
        say(&format!("more: --cursor {next}"));
    }
    Ok(())
}

async fn show(service: &Service, id: OperationId, as_json: bool) -> Result<(), Failure> {
    let row = service.get_operation(id).await?;
    let history = service.operation_history(id).await?;
    if as_json {
        say(&json!({ "operation": document(&row), "history": history }).to_string());
    } else {
        say(&line(&row));
        history.iter().for_each(|entry| say(&history_line(entry)));
    }
    Ok(())
}

async fn tell(service: &Service, change: &OperationChange) -> Result<(), Failure> {
    let row = service.get_operation(change.id.into()).await?;
    say(&if change.json {
        document(&row).to_string()
    } else {
        line(&row)
    });
    Ok(())
}

fn document(row: &OperationRow) -> Value {
    json!({
        "id": row.operation_id, "entitlementId": row.entitlement_id, "subscriptionId": row.subscription_id, "orderId": row.order_id,
        "operation": row.operation, "status": row.status, "version": row.version, "attemptCount": row.attempt_count,
        "nextAttemptAt": row.next_attempt_at, "effectiveAt": row.effective_at, "lastErrorCode": row.last_error_code,
        "cancelRequested": row.cancel_requested, "correlationId": row.correlation_id, "createdAt": row.created_at,
        "completedAt": row.completed_at,
    })
}

fn line(row: &OperationRow) -> String {
    let code = row.last_error_code.as_deref().unwrap_or("-");
    format!(
        "{} {} {:<13} {:<9} {} attempts  {}  {}{}",
        row.created_at.format("%Y-%m-%d %H:%M:%S"),
        row.operation_id,
        plain(&row.operation),
        row.status,
        row.attempt_count,
        plain(code),
        plain(&row.correlation_id),
        if row.cancel_requested { "  cancel requested" } else { "" }
    )
}

fn history_line(entry: &HistoryView) -> String {
    let code = entry.error_code.as_deref().unwrap_or("-");
    format!(
        "  {} {:<8} {:<9} attempt {:<3} {}  {}{}",
        entry.occurred_at.format("%Y-%m-%d %H:%M:%S"),
        entry.kind,
        entry.status,
        entry.attempt,
        plain(code),
        plain(&entry.correlation_id),
        if entry.count > 1 {
            format!(
                "  {} times since {}",
                entry.count,
                entry.first_at.format("%Y-%m-%d %H:%M:%S")
            )
        } else {
            String::new()
        }
    )
}
