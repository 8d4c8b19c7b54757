//! Our log beside stock `postgres-es`, which shares its seven columns: either reads what the other wrote, to the same state.

#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};

use cqrs_es::{AggregateContext as _, CqrsFramework, EventStore as _, persist::PersistedEventStore};
use domain::{
    ids::{CustomerId, EntitlementId, IntentId, OrderId, PlanVersionId, SubscriptionId},
    log::Metadata,
    money::Money,
    order::{Command, Item, Operation, Order},
    plan::{Limits, Terms},
    time::Timestamp,
};
use ports::ids::{Ids as _, SystemIds};
use postgres_es::PostgresEventRepository;
use sqlx_of_postgres_es::postgres::PgPoolOptions;
use store::{PoolOptions, Store, StreamId, command_pool, verify_chain};
use tests::TestDb;

type Stock = PersistedEventStore<PostgresEventRepository, Order>;

fn now() -> Timestamp {
    "2026-11-29T12:00:00.123456Z".parse().unwrap()
}

fn metadata() -> Metadata {
    Metadata {
        correlation_id: "corr-1".to_owned(),
        causation_id: None,
        actor: "system:test".to_owned(),
        reason: Some("a comparison".to_owned()),
        at: now(),
    }
}

struct Case {
    order: OrderId,
    intent: IntentId,
}

impl Case {
    fn new() -> Self {
        Self {
            order: OrderId::new(SystemIds.next()),
            intent: IntentId::new(SystemIds.next()),
        }
    }

    fn place(&self) -> Command {
        Command::Place {
            order_id: self.order,
            customer_id: CustomerId::new(SystemIds.next()),
            item: Item::Plan {
                operation: Operation::Purchase,
                entitlement_id: EntitlementId::new(SystemIds.next()),
                subscription_id: SubscriptionId::new(SystemIds.next()),
                terms: Terms {
                    plan_version_id: PlanVersionId::new(SystemIds.next()),
                    plan_code: "month".to_owned(),
                    duration_seconds: 2_592_000,
                    grace_seconds: 0,
                    limits: Limits {
                        traffic_bytes: None,
                        devices: Some(3),
                        squads: vec![SystemIds.next()],
                    },
                },
            },
            currency: "RUB".parse().unwrap(),
            subtotal_minor: 29_900,
            discount_minor: 0,
            wallet_minor: 0,
            expires_at: now() + Duration::from_hours(1),
            at: now(),
        }
    }

    fn open_intent(&self) -> Command {
        Command::OpenIntent {
            intent_id: self.intent,
            provider: "manual".to_owned(),
            window_until: None,
            at: now(),
        }
    }

    fn payment(&self, event: &str, amount: i64) -> Command {
        Command::ObservePayment {
            intent_id: self.intent,
            provider: "manual".to_owned(),
            provider_event_id: event.to_owned(),
            amount: Money::new(amount, "RUB".parse().unwrap()).unwrap(),
            at: now(),
        }
    }
}

async fn stock_store(db: &TestDb) -> Stock {
    let pool = PgPoolOptions::new()
        .max_connections(16)
        .connect(&db.owner_url)
        .await
        .unwrap();
    PersistedEventStore::new_event_store(PostgresEventRepository::new(pool))
}

async fn ours(db: &TestDb) -> Store {
    let options = PoolOptions {
        url: db.url.clone(),
        size: 16,
        process: "test",
    };
    Store::new(command_pool(&options).await.unwrap())
}

async fn execute(store: &Store, order: OrderId, command: Command) {
    let mut work = store.load(&[StreamId::of::<Order>(order)], metadata()).await.unwrap();
    work.execute::<Order>(order, command).unwrap();
    work.commit().await.unwrap();
}

#[tokio::test]
async fn each_reads_what_the_other_wrote() {
    let db = TestDb::new().await;
    let (stock, ours, case) = (stock_store(&db).await, ours(&db).await, Case::new());
    let id = case.order.to_string();

    execute(&ours, case.order, case.place()).await;
    execute(&ours, case.order, case.open_intent()).await;
    let mut theirs = stock.load_aggregate(&id).await.unwrap();
    assert_eq!(theirs.aggregate(), &ours.fold::<Order>(case.order).await.unwrap().state);

    let framework = CqrsFramework::new(stock_store(&db).await, Vec::new(), ());
    let carried = HashMap::from([("actor".to_owned(), "somebody else".to_owned())]);
    framework
        .execute_with_metadata(&id, case.payment("short", 100), carried)
        .await
        .unwrap();
    execute(&ours, case.order, case.payment("exact", 29_900)).await;

    let folded = ours.fold::<Order>(case.order).await.unwrap();
    assert_eq!((folded.sequence, folded.state.paid_minor), (5, 29_900));
    assert_eq!(stock.load_aggregate(&id).await.unwrap().aggregate(), &folded.state);
    let events = stock.load_events(&id).await.unwrap();
    assert_eq!(
        events.iter().map(|event| event.sequence).collect::<Vec<_>>(),
        [1, 2, 3, 4, 5]
    );
    assert_eq!(
        events.last().unwrap().metadata.get("reason").map(String::as_str),
        Some("a comparison")
    );

    let report = verify_chain(ours.pool(), "order", &id).await.unwrap();
    assert_eq!(report.foreign, [3]);
    assert!(report.is_intact(), "{report:?}");
}

/// Commands a second of one side, for a while.
async fn rate<F: Future<Output = ()> + Send>(
    step: impl Fn(OrderId, IntentId, i64) -> F + Clone + Send + 'static,
) -> f64 {
    let start = Instant::now();
    let tasks: Vec<_> = (0..16)
        .map(|_| {
            let step = step.clone();
            tokio::spawn(async move {
                let mut done = 0_u32;
                while start.elapsed() < Duration::from_secs(2) {
                    let case = Case::new();
                    for turn in 0..10 {
                        step(case.order, case.intent, turn).await;
                        done += 1;
                    }
                }
                done
            })
        })
        .collect();
    let mut done = 0.0;
    for task in tasks {
        done += f64::from(task.await.unwrap());
    }
    done / start.elapsed().as_secs_f64()
}

fn command(order: OrderId, intent: IntentId, turn: i64) -> Command {
    let case = Case { order, intent };
    match turn {
        0 => case.place(),
        1 => case.open_intent(),
        _ => case.payment(&format!("event-{turn}"), 100),
    }
}

/// Run by hand, in release and alone on the machine: `--release … -- --ignored --nocapture`.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "a measurement"]
async fn one_event_a_command_beside_the_stock_store() {
    let db = TestDb::new().await;
    let (stock, ours) = (stock_store(&db).await, ours(&db).await);
    let framework = Arc::new(CqrsFramework::new(stock, Vec::new(), ()));
    let mut ratios = Vec::new();
    for _ in 0..5 {
        let store = ours.clone();
        let mine = rate(move |order, intent, turn| {
            let store = store.clone();
            async move { execute(&store, order, command(order, intent, turn)).await }
        })
        .await;
        let framework = Arc::clone(&framework);
        let theirs = rate(move |order, intent, turn| {
            let framework = Arc::clone(&framework);
            async move {
                framework
                    .execute(&order.to_string(), command(order, intent, turn))
                    .await
                    .unwrap();
            }
        })
        .await;
        println!("ours {mine:.0}/s, stock {theirs:.0}/s, ratio {:.2}", mine / theirs);
        ratios.push(mine / theirs);
    }
    ratios.sort_by(f64::total_cmp);
    println!("median {:.2}", ratios[2]);
}
