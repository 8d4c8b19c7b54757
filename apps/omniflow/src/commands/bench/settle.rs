//! `settle`: look the key up, load order and entitlement, decide, append four events with two outbox rows, the operation row and the
//! stored answer.

use std::sync::Arc;

use domain::{
    entitlement::{Entitlement, OperationKind},
    ids::{IdempotencyKey, OperationId},
    money::Currency,
    order::Order,
};
use ports::ids::{Ids, SystemIds};
use sqlx::PgPool;
use store::{KeyedRequest, Loaded, NewOperation, Store, StoredAnswer, StreamId};
use tokio::sync::Mutex;

use super::{
    Ground, Report, Shape, Side, compare,
    interleave::Subject,
    seed::{Case, Rows, currency, metadata, metadata_text},
    settle_raw::Raw,
};
use crate::failure::Failure;

/// Pairs of streams written by one statement.
const CHUNK: usize = 500;
/// Settlements a second that a machine is not expected to pass.
const CEILING: u64 = 4_000;

/// Runs the scenario.
pub(crate) async fn run(ground: &Ground, shape: Shape) -> Result<Report, Failure> {
    let subject = Subject {
        scenario: "settle",
        unit: "command",
        raw_is: "begin, select the key, select both streams, insert events, outbox, operation and answer by one statement each, commit; no decision, no decoding, no hash",
    };
    let wanted = shape.span.as_secs().max(1).saturating_mul(CEILING);
    let cases = |pool: PgPool| Cases {
        pool,
        wanted: usize::try_from(wanted).unwrap_or(usize::MAX),
        ready: Mutex::default(),
    };
    let (ours, raw) = (
        ground.command_pool(shape.tasks).await?,
        ground.command_pool(shape.tasks).await?,
    );
    let ours = Ours {
        store: Store::new(ours.clone()),
        currency: currency()?,
        cases: cases(ours),
    };
    let raw = Raw::new(raw.clone(), cases(raw))?;
    compare(subject, &Arc::new(ours), &Arc::new(raw), shape).await
}

/// Orders with an open intent, and the entitlements they extend.
pub(crate) struct Cases {
    pool: PgPool,
    wanted: usize,
    ready: Mutex<Vec<Case>>,
}

impl Cases {
    pub(crate) async fn fill(&self) -> Result<(), Failure> {
        let (currency, metadata) = (currency()?, metadata_text()?);
        let mut ready = self.ready.lock().await;
        while ready.len() < self.wanted {
            let mut rows = Rows::default();
            for _ in 0..CHUNK {
                let case = Case::new();
                case.seed(&mut rows, &metadata, currency)?;
                ready.push(case);
            }
            rows.insert(&self.pool, &metadata).await?;
        }
        Ok(())
    }

    pub(crate) async fn next(&self) -> Option<Case> {
        self.ready.lock().await.pop()
    }
}

pub(crate) fn key(case: &Case) -> Result<KeyedRequest, Failure> {
    Ok(KeyedRequest {
        principal: "provider:manual".to_owned(),
        key: IdempotencyKey::parse(&case.intent.to_string()).map_err(Failure::unavailable)?,
        fingerprint: [7; 32],
    })
}

pub(crate) fn answer() -> serde_json::Value {
    serde_json::json!({ "state": "paid", "classification": "paid", "paidMinor": 29_900 })
}

/// Through the unit of work.
struct Ours {
    store: Store,
    currency: Currency,
    cases: Cases,
}

impl Side for Ours {
    type Task = ();

    async fn prepare(&self) -> Result<(), Failure> {
        self.cases.fill().await
    }

    fn task(&self) {}

    async fn step(&self, (): &mut ()) -> Result<u64, Failure> {
        let Some(case) = self.cases.next().await else {
            return Ok(0);
        };
        let key = key(&case)?;
        let streams = [
            StreamId::of::<Order>(case.order),
            StreamId::of::<Entitlement>(case.entitlement),
        ];
        let Loaded::Fresh(mut work) = self.store.load_keyed(&key, &streams, metadata()).await? else {
            return Err(Failure::unavailable("a new key was answered"));
        };
        let payment = case.payment("paid-1".to_owned(), 0, self.currency)?;
        work.execute::<Order>(case.order, payment)
            .map_err(Failure::unavailable)?;
        let operation_id = OperationId::new(SystemIds.next());
        work.execute::<Entitlement>(case.entitlement, case.extend(operation_id))
            .map_err(Failure::unavailable)?;
        work.enqueue_operation(NewOperation {
            operation_id,
            entitlement_id: case.entitlement,
            subscription_id: case.subscription,
            order_id: Some(case.order),
            operation: OperationKind::Extend,
            version: 2,
            idempotency_key: format!("order:{}:fulfill", case.order),
            correlation_id: metadata().correlation_id,
            effective_at: None,
        });
        work.answer(
            &key,
            StoredAnswer {
                status: 200,
                body: answer(),
            },
        );
        work.commit().await?;
        Ok(1)
    }
}
