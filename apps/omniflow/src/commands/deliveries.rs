//! `deliveries resolve`: a person's verdict on goods of which nobody knows whether they arrived.

use std::{path::PathBuf, process::ExitCode};

use domain::ids::OrderId;
use service::operators::ResolveDelivery;

use super::operator;
use crate::{
    cli::{DeliveriesCommand, VerdictArg},
    commands::say,
    config::Config,
    failure::Failure,
};

pub(super) async fn run(command: DeliveriesCommand, config: Config, data_dir: PathBuf) -> Result<ExitCode, Failure> {
    let DeliveriesCommand::Resolve {
        order_id,
        verdict,
        reason,
        operator,
    } = command;
    if reason.trim().is_empty() || operator.trim().is_empty() {
        return Err(Failure::Usage("a reason and an operator are required".to_owned()));
    }
    let service = operator::service(&config, &data_dir).await?;
    let request = ResolveDelivery {
        order_id: OrderId::new(order_id),
        delivered: matches!(verdict, VerdictArg::Delivered),
        reason: reason.trim().to_owned(),
    };
    let key = operator::keyed("deliveries resolve", &request)?;
    let done = service
        .resolve_delivery(&operator::caller(operator.trim()), &key, &request)
        .await?;
    let delivery = done.value;
    say(&format!(
        "{}: {}, owed back {} minor units",
        delivery.order_id, delivery.state, delivery.refund_owed_minor
    ));
    Ok(ExitCode::SUCCESS)
}
