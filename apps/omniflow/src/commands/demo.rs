//! `demo`: sample orders to the end on a throw-away database, and what became of them.

use std::{collections::BTreeMap, net::SocketAddr, path::Path, process::ExitCode, sync::Arc, time::Duration};

use cluster::{Cluster, Options};
use ports::ids::{Ids as _, SystemIds};
use queue::JobClient;
use sandbox::control;
use serde_json::{Value, json};
use store::{
    Mode,
    summary::{Latency, Summary, paid_to_provisioned},
};
use tokio::task::{JoinError, JoinSet};
use uuid::Uuid;

use crate::{
    cli::DemoArgs,
    commands::{say, start_logs},
    config::{Config, Vars},
    driver::{Goods, Shop, Verdict, judge},
    failure::Failure,
    wiring::{
        database::{DATABASE, Database, server_settings},
        processes::asked_to_stop,
        stack::Stack,
        watch,
    },
};

/// How long the orders may take, beyond a tenth of a second each.
const PATIENCE: Duration = Duration::from_secs(60);
/// Orders on their way at once.
const AT_ONCE: usize = 8;

/// Orders that were paid, with what the outside world should show for each.
#[derive(Debug, Default)]
struct Orders {
    plans: Vec<(Uuid, Uuid)>,
    goods: Vec<(Uuid, String)>,
}

pub(super) async fn run(args: DemoArgs, config: Config) -> Result<ExitCode, Failure> {
    start_logs(&config);
    // Nothing of the settings reaches a demo but where the server programs are.
    let settings = server_settings(&config);
    let config = Config::read(&Vars::from_map(BTreeMap::new()))?;
    let folder = std::env::temp_dir().join(format!("omniflow-demo-{}", SystemIds.next().simple()));
    let options = Options {
        settings,
        throw_away: !args.keep,
        ..Options::new(&folder)
    };
    let cluster = Cluster::start(&options).await.map_err(Failure::unavailable)?;
    cluster.ensure_database(DATABASE).await.map_err(Failure::unavailable)?;
    let database = Database {
        url: cluster.owner_url(DATABASE).into(),
        cluster: Some(cluster),
    };

    let loopback = SocketAddr::from(([127, 0, 0, 1], 0));
    let stack = Stack::start(config, &folder, database, Mode::Sandbox, loopback).await?;
    let report = tokio::select! {
        report = play(&stack, &args, &folder) => report,
        () = asked_to_stop() => Err(Failure::No("stopped before the orders were through".to_owned())),
    };
    stack.stop().await?;
    if args.keep {
        tracing::info!(folder = %folder.display(), "kept");
    } else {
        std::fs::remove_dir_all(&folder)?;
    }
    let (report, good) = report?;
    if args.json {
        say(&report.to_string());
    } else {
        say(&serde_json::to_string_pretty(&report).unwrap_or_else(|_| report.to_string()));
        say(if good {
            "Everything that was paid for was provided, once."
        } else {
            "NOT everything that was paid for was provided once."
        });
    }
    Ok(if good { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// Buys, pays, waits, judges.
async fn play(stack: &Stack, args: &DemoArgs, folder: &Path) -> Result<(Value, bool), Failure> {
    let shop = stack.shop()?;
    let control = Arc::new(stack.control().await?);
    let catalog = stack.core.service.catalog();
    let plan = catalog.plans.first().and_then(|plan| plan.versions.last());
    let plan = plan
        .ok_or_else(|| Failure::Usage("the catalog has no plan".to_owned()))?
        .terms
        .plan_version_id
        .as_uuid();
    let product = catalog
        .goods
        .first()
        .map(|product| product.code.clone())
        .unwrap_or_default();

    let mut buying = JoinSet::new();
    let mut orders = Orders::default();
    for number in 0..args.orders.saturating_add(args.goods) {
        if buying.len() >= AT_ONCE {
            orders.note(buying.join_next().await)?;
        }
        let recipient = (number >= args.orders).then(|| format!("sample_{number:06}"));
        let buyer = Buyer {
            shop: shop.clone(),
            control: Arc::clone(&control),
            plan,
            product: product.clone(),
        };
        buying.spawn(async move { buyer.buy(number, recipient).await });
    }
    while let Some(bought) = buying.join_next().await {
        orders.note(Some(bought))?;
    }
    let all = i64::from(args.orders).saturating_add(i64::from(args.goods));
    let patience =
        PATIENCE.saturating_add(Duration::from_millis(100).saturating_mul(args.orders.saturating_add(args.goods)));
    let summary = watch::until_settled(&stack.following, all, patience).await?;
    let latency = paid_to_provisioned(&stack.following).await?.unwrap_or_default();
    let parked = watch::parked(&stack.following).await?;
    let verdict = judge(folder, &orders.plans, &orders.goods, &parked)?;
    let jobs = JobClient::new(stack.core.pool.clone())
        .completed()
        .await
        .map_err(Failure::unavailable)?;
    Ok(report(&summary, latency, &verdict, jobs, all))
}

/// One customer.
struct Buyer {
    shop: Shop,
    control: Arc<control::Client>,
    plan: Uuid,
    product: String,
}

/// What was bought: the order, and the recipient of goods or the subscription of a plan.
type Outcome = Result<(Uuid, Result<String, Uuid>), Failure>;

impl Buyer {
    /// Buys goods for a recipient, or a plan; every other order is paid at the simulated provider, the rest by an operator's word.
    async fn buy(&self, number: u32, recipient: Option<String>) -> Outcome {
        let customer = SystemIds.next();
        let order = match &recipient {
            Some(username) => {
                self.shop
                    .buy_goods(
                        SystemIds.next(),
                        customer,
                        Goods {
                            product: &self.product,
                            username,
                        },
                    )
                    .await?
            }
            None => self.shop.buy_plan(SystemIds.next(), customer, self.plan).await?,
        };
        let provider = if number.is_multiple_of(2) {
            "cryptobot"
        } else {
            "manual"
        };
        let payment = self.shop.ask_for_money(SystemIds.next(), order.id, provider).await?;
        match payment.provider_reference.and_then(|reference| reference.parse().ok()) {
            Some(invoice) if provider == "cryptobot" => self.control.pay_invoice(invoice).await?,
            _ => self.shop.approve(SystemIds.next(), payment.id).await?,
        }
        Ok((order.id, recipient.ok_or(order.subscription_id.unwrap_or_default())))
    }
}

impl Orders {
    fn note(&mut self, bought: Option<Result<Outcome, JoinError>>) -> Result<(), Failure> {
        let Some(bought) = bought else { return Ok(()) };
        match bought.map_err(Failure::unavailable)?? {
            (order, Ok(recipient)) => self.goods.push((order, recipient)),
            (order, Err(subscription)) => self.plans.push((order, subscription)),
        }
        Ok(())
    }
}

fn report(summary: &Summary, latency: Latency, verdict: &Verdict, jobs: i64, all: i64) -> (Value, bool) {
    let rounded = |ms: f64| (ms * 10.0).round() / 10.0;
    let report = json!({
        "orders": {"placed": summary.placed, "paid": summary.paid, "fulfilled": summary.fulfilled},
        "deliveries": {"owed": summary.owed, "delivered": verdict.delivered, "needsReview": summary.needs_review},
        "panel": {"users": verdict.users, "duplicateUsers": verdict.duplicate_users},
        "outbox": {"pending": summary.outbox_pending, "published": summary.outbox_published},
        "jobs": {"completed": jobs, "deadLetters": summary.dead_letters},
        "latencyMs": {"paidToProvisioned": {"p50": rounded(latency.p50_ms), "p99": rounded(latency.p99_ms)}},
        "lost": verdict.lost.len(),
        "duplicated": verdict.duplicated.len(),
    });
    let good = verdict.lost.is_empty()
        && verdict.duplicated.is_empty()
        && verdict.duplicate_users == 0
        && summary.fulfilled == all
        && summary.outbox_pending == 0;
    (report, good)
}
