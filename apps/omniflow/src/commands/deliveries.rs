//! `deliveries …`: digital goods that are owed, and what only a person can decide about them.

use std::{path::PathBuf, process::ExitCode};

use domain::ids::OrderId;
use serde_json::{Value, json};
use service::{
    Done, Service,
    operators::{CancelDelivery, DeliveryDetail, DeliveryStep, DeliveryView, ResolveDelivery},
};
use store::delivery_list::{DeliveryRow, Listed};

use super::{events::plain, operator};
use crate::{
    cli::{DeliveriesCommand, VerdictArg},
    commands::say,
    config::Config,
    failure::Failure,
};

pub(super) async fn run(command: DeliveriesCommand, config: Config, data_dir: PathBuf) -> Result<ExitCode, Failure> {
    let service = operator::service(&config, &data_dir).await?;
    match command {
        DeliveriesCommand::List {
            state,
            limit,
            before,
            json,
        } => {
            let page = service
                .list_deliveries(&listed(&state)?, before, i64::from(limit))
                .await?;
            if json {
                let items: Vec<_> = page.rows.iter().map(document).collect();
                say(&json!({"state": state, "items": items, "position": page.position}).to_string());
            } else if page.rows.is_empty() {
                say(&format!("no delivery is {}", plain(&state)));
            } else {
                page.rows.iter().for_each(|row| say(&line(row)));
            }
        }
        DeliveriesCommand::Show { order_id, json } => {
            show(&service.get_delivery(OrderId::new(order_id)).await?, json)?;
        }
        DeliveriesCommand::Resolve {
            order_id,
            verdict,
            reason,
            operator,
        } => {
            let request = ResolveDelivery {
                order_id: OrderId::new(order_id),
                delivered: matches!(verdict, VerdictArg::Delivered),
                reason: required(&reason)?,
            };
            resolve(&service, &required(&operator)?, &request).await?;
        }
        DeliveriesCommand::Cancel {
            order_id,
            reason,
            operator,
        } => {
            let request = CancelDelivery {
                order_id: OrderId::new(order_id),
                reason: required(&reason)?,
            };
            cancel(&service, &required(&operator)?, &request).await?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

async fn resolve(service: &Service, person: &str, request: &ResolveDelivery) -> Result<(), Failure> {
    let key = operator::keyed("deliveries resolve", request)?;
    decided(
        &service
            .resolve_delivery(&operator::caller(person), &key, request)
            .await?,
    );
    Ok(())
}

async fn cancel(service: &Service, person: &str, request: &CancelDelivery) -> Result<(), Failure> {
    let key = operator::keyed("deliveries cancel", request)?;
    decided(
        &service
            .cancel_delivery(&operator::caller(person), &key, request)
            .await?,
    );
    Ok(())
}

fn decided(done: &Done<DeliveryView>) {
    let delivery = &done.value;
    say(&format!(
        "{}: {}, owed back {} minor units",
        delivery.order_id, delivery.state, delivery.refund_owed_minor
    ));
}

fn required(text: &str) -> Result<String, Failure> {
    let text = text.trim();
    if text.is_empty() {
        return Err(Failure::Usage("a reason and an operator are required".to_owned()));
    }
    Ok(text.to_owned())
}

fn listed(state: &str) -> Result<Listed, Failure> {
    match state {
        "refund_owed" => Ok(Listed::RefundOwed),
        "needs_review" | "owed" | "submitting" | "accepted" | "retry_wait" | "delivered" | "failed" | "cancelled" => {
            Ok(Listed::State(state.to_owned()))
        }
        _ => Err(Failure::Usage(format!("`{}` is no state of a delivery", plain(state)))),
    }
}

fn document(row: &DeliveryRow) -> Value {
    json!({
        "orderId": row.order_id, "customerId": row.customer_id, "provider": row.provider, "productCode": row.product_code,
        "state": row.state, "attempts": row.attempts, "providerReference": row.provider_reference, "failureClass": row.failure_class,
        "errorCode": row.error_code, "refundOwedMinor": row.refund_owed_minor, "currency": row.currency, "owedAt": row.owed_at,
        "closedAt": row.closed_at,
    })
}

fn line(row: &DeliveryRow) -> String {
    format!(
        "{} {:<12} {:<16} attempts {} owed back {} {} {}",
        row.order_id,
        plain(&row.state),
        plain(&row.product_code),
        row.attempts,
        row.refund_owed_minor,
        plain(&row.currency),
        plain(row.error_code.as_deref().unwrap_or("-")),
    )
}

fn show(detail: &DeliveryDetail, json: bool) -> Result<(), Failure> {
    if json {
        say(&serde_json::to_string(detail).map_err(Failure::unavailable)?);
        return Ok(());
    }
    say(&format!(
        "{}: {}, {} from {}, paid {} {}, owed back {}",
        detail.delivery.order_id,
        detail.delivery.state,
        plain(&detail.product_code),
        plain(&detail.provider),
        detail.price_minor,
        plain(&detail.currency),
        detail.delivery.refund_owed_minor,
    ));
    detail.history.iter().for_each(|step| say(&history_line(step)));
    if let Some(decision) = detail.decision {
        say(&format!(
            "a person may: omniflow deliveries {decision} {}",
            detail.delivery.order_id
        ));
    }
    Ok(())
}

fn history_line(step: &DeliveryStep) -> String {
    let attempt = step.attempt.map(|attempt| format!(" #{attempt}")).unwrap_or_default();
    let parts = [
        step.failure_class,
        step.code.as_deref(),
        step.reference.as_deref(),
        step.reason.as_deref(),
    ];
    let parts: Vec<_> = parts.into_iter().flatten().map(plain).collect();
    format!(
        "  {} {}{attempt} {}",
        step.at.format("%Y-%m-%d %H:%M:%S"),
        step.event,
        parts.join(" · ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_of_a_delivery_and_the_debts_can_be_listed() {
        assert_eq!(listed("refund_owed").ok(), Some(Listed::RefundOwed));
        assert_eq!(
            listed("needs_review").ok(),
            Some(Listed::State("needs_review".to_owned()))
        );
        assert!(listed("pending").is_err());
        assert!(required(" \t").is_err());
    }
}
