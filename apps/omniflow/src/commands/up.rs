//! `up`: everything in one process, with a first sample order in a sandbox.

use std::{path::PathBuf, process::ExitCode, time::Duration};

use domain::ids::OrderId;
use ports::ids::{Ids as _, SystemIds};
use store::{Mode, summary::summary};

use crate::{
    cli::UpArgs,
    commands::{say, start_telemetry},
    config::Config,
    failure::Failure,
    wiring::{data_dir::DataDir, database::Database, processes::asked_to_stop, stack::Stack},
};

/// How long the sample order may take.
const SAMPLE_LIMIT: Duration = Duration::from_secs(60);

pub(super) async fn run(args: UpArgs, config: Config, data_dir: PathBuf) -> Result<ExitCode, Failure> {
    start_telemetry(&config, "up");
    let dir = DataDir::open(&data_dir)?;
    let _held = dir.hold()?;
    let mode = if args.live { Mode::Live } else { Mode::Sandbox };
    let address = config.http.api;
    // A signal during the start must stop the server too, so it is waited for from here on.
    let stopped = tokio::spawn(asked_to_stop());
    let database = Database::start(&config, dir.path()).await?;
    let mut stack = Stack::start(config, dir.path(), database, mode, address).await?;

    let mut stopped = stopped;
    let early = tokio::select! {
        ready = announce(&stack) => Some(ready),
        _ = &mut stopped => None,
    };
    let outcome = match early {
        None => Ok(()),
        Some(Err(failure)) => Err(failure),
        Some(Ok(())) => tokio::select! {
            _ = stopped => Ok(()),
            failure = stack.failed() => Err(failure),
        },
    };
    tracing::info!("stopping");
    let ended = stack.stop().await;
    outcome.and(ended)?;
    Ok(ExitCode::SUCCESS)
}

/// Says where everything is, once a first order went all the way.
async fn announce(stack: &Stack) -> Result<(), Failure> {
    if stack.sandbox.is_some() {
        stack.listen_to_panel().await?;
        if summary(&stack.following).await?.placed == 0 {
            sample_order(stack).await?;
        }
    }
    say(&format!("ready: {}", stack.base_url));
    if let (Some(token), true) = (&stack.operator_token, stack.sandbox.is_some()) {
        say("This is a sandbox: panel, payments and goods are simulators.");
        if stack.tells_real_operators {
            say("Notices go to a real Telegram group, each marked [sandbox].");
        }
        say(&format!("token: {}", token.expose()));
        say(&format!("try:   {}", curl(stack, token.expose())));
    }
    Ok(())
}

/// One command that places an order.
fn curl(stack: &Stack, token: &str) -> String {
    let plan = stack
        .core
        .service
        .catalog()
        .plans
        .first()
        .and_then(|plan| plan.versions.last());
    let plan = plan
        .map(|version| version.terms.plan_version_id.to_string())
        .unwrap_or_default();
    format!(
        "curl -sS {}/v1/admin/orders -H 'Authorization: Bearer {token}' -H 'Content-Type: application/json' \
         -H \"Idempotency-Key: $(date +%s%N)\" -d '{{\"customerId\":\"{}\",\"operation\":\"purchase\",\"currency\":\"RUB\",\"planVersionId\":\"{plan}\"}}'",
        stack.base_url,
        SystemIds.next(),
    )
}

/// Places one order, pays it at the simulated provider, and waits for its access.
async fn sample_order(stack: &Stack) -> Result<(), Failure> {
    let shop = stack.shop()?;
    let control = stack.control().await?;
    let plan = stack
        .core
        .service
        .catalog()
        .plans
        .first()
        .and_then(|plan| plan.versions.last());
    let plan = plan
        .ok_or_else(|| Failure::Usage("the catalog has no plan to try".to_owned()))?
        .terms
        .plan_version_id;
    let order = shop
        .buy_plan(SystemIds.next(), SystemIds.next(), plan.as_uuid())
        .await
        .map_err(Failure::unavailable)?;
    if order.external_minor > 0 {
        let payment = shop
            .ask_for_money(SystemIds.next(), order.id, "cryptobot")
            .await
            .map_err(Failure::unavailable)?;
        let invoice = payment.provider_reference.and_then(|reference| reference.parse().ok());
        let invoice = invoice.ok_or_else(|| Failure::unavailable("the simulated provider gave no invoice"))?;
        control.pay_invoice(invoice).await.map_err(Failure::unavailable)?;
    }
    let waited = tokio::time::timeout(SAMPLE_LIMIT, async {
        while !stack.is_fulfilled(OrderId::new(order.id)).await? {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Ok(())
    });
    waited.await.map_err(|_| {
        Failure::No(format!(
            "the sample order {} was not fulfilled within a minute: see `omniflow doctor`",
            order.id
        ))
    })?
}
