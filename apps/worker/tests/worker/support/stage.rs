//! One installation in small: its database, its clock, its worker.

use std::{sync::Arc, time::Duration};

use domain::{
    entitlement::{self, Asked, Entitlement, OpenOperation, OperationKind},
    ids::{CustomerId, EntitlementId, IdempotencyKey, OperationId, OrderId, PlanVersionId, SubscriptionId},
    log::Metadata,
    money::Currency,
    order::{self, Item, Operation, Order},
    plan::{Limits, Terms},
    time::Timestamp,
};
use ports::{
    clock::{Clock, ManualClock},
    ids::{Ids, SystemIds},
};
use queue::{Failure, FulfillmentArgs, Handler, JobClient, Outcome, Run};
use service::{
    Caller, KeyedRequest, Service,
    entitlements::{ChangeEntitlement, ChangeRequest},
    fulfillment::Fulfillment,
};
use sqlx::PgPool;
use store::{NewOperation, PoolOptions, Store, StreamId};
use tests::TestDb;
use uuid::Uuid;
use worker::{PanelPause, Parts, Settings, Worker, jobs::FulfillmentJobs};

use super::FakePanel;

pub(crate) struct Stage {
    pub(crate) pool: PgPool,
    pub(crate) store: Store,
    pub(crate) queue: JobClient,
    pub(crate) clock: ManualClock,
    pub(crate) panel: FakePanel,
    pub(crate) fulfillment: Fulfillment,
    pub(crate) jobs: FulfillmentJobs,
    /// Dropped last: the pools above are of this database.
    pub(crate) db: TestDb,
}

/// A paid order and what it opened.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_field_names, reason = "they are ids, and named as everywhere")]
pub(crate) struct Paid {
    pub(crate) order_id: Uuid,
    pub(crate) entitlement_id: Uuid,
    pub(crate) subscription_id: Uuid,
    pub(crate) operation_id: Uuid,
}

/// Connections for whatever a test does beside what it tests.
const WIDE: u32 = 24;

impl Stage {
    /// With one connection: a use case that asks for a second one while it holds the first waits for itself.
    pub(crate) async fn new() -> Self {
        Self::build(1, "UTC").await
    }

    /// As [`Self::new`], with connections enough for those who meet in the database.
    pub(crate) async fn racing() -> Self {
        Self::build(WIDE, "UTC").await
    }

    /// As [`Self::new`], on a server that shows times in a zone.
    pub(crate) async fn in_zone(zone: &str) -> Self {
        Self::build(1, zone).await
    }

    async fn build(size: u32, zone: &str) -> Self {
        let db = TestDb::new().await;
        let options = PoolOptions {
            url: format!("{}%20-c%20timezone%3D{zone}", db.url),
            size: WIDE,
            process: "test",
        };
        let pool = store::command_pool(&options).await.unwrap();
        let own = store::command_pool(&PoolOptions { size, ..options }).await.unwrap();
        let store = Store::new(own.clone());
        let queue = JobClient::new(own);
        let clock = ManualClock::at("2026-03-01T12:00:00Z".parse().unwrap());
        let panel = FakePanel::default();
        panel.set_clock(clock.now());
        let fulfillment = Fulfillment::new(
            store.clone(),
            queue.clone(),
            Arc::new(clock.clone()),
            Arc::new(SystemIds),
        );
        let jobs = FulfillmentJobs::new(
            fulfillment.clone(),
            Arc::new(panel.clone()),
            PanelPause::default(),
            Arc::new(clock.clone()),
        );
        Self {
            pool,
            store,
            queue,
            clock,
            panel,
            fulfillment,
            jobs,
            db,
        }
    }

    pub(crate) fn service(&self) -> Service {
        Service::builder(self.store.clone())
            .clock(Arc::new(self.clock.clone()))
            .queue(self.queue.clone())
            .build()
    }

    pub(crate) fn worker(&self, name: &str) -> Worker {
        let parts = Parts {
            service: self.service(),
            panel: Arc::new(self.panel.clone()),
            ceiling: None,
            passes: worker::passes::PassSettings::default(),
        };
        Worker::start(
            &parts,
            Settings {
                grace: Duration::from_millis(300),
                ..Settings::named(name)
            },
        )
        .unwrap()
    }

    /// A first order of a new subscription, paid.
    pub(crate) async fn purchase(&self) -> Paid {
        let paid = Paid {
            order_id: SystemIds.next(),
            entitlement_id: SystemIds.next(),
            subscription_id: SystemIds.next(),
            operation_id: SystemIds.next(),
        };
        self.order(paid, Operation::Purchase, OperationKind::Create, None).await;
        paid
    }

    /// A further order of the same subscription, paid.
    pub(crate) async fn extend(&self, first: Paid) -> Paid {
        let paid = Paid {
            order_id: SystemIds.next(),
            operation_id: SystemIds.next(),
            ..first
        };
        self.order(paid, Operation::Extension, OperationKind::Extend, None)
            .await;
        paid
    }

    /// As [`Self::purchase`], to be applied later.
    pub(crate) async fn purchase_for(&self, effective_at: Timestamp) -> Paid {
        let paid = Paid {
            order_id: SystemIds.next(),
            entitlement_id: SystemIds.next(),
            subscription_id: SystemIds.next(),
            operation_id: SystemIds.next(),
        };
        self.order(paid, Operation::Purchase, OperationKind::Create, Some(effective_at))
            .await;
        paid
    }

    #[expect(clippy::too_many_lines, reason = "one unit of work, told in one piece")]
    async fn order(&self, paid: Paid, operation: Operation, kind: OperationKind, effective_at: Option<Timestamp>) {
        let at = self.clock.now();
        let (order_id, entitlement_id) = (OrderId::new(paid.order_id), EntitlementId::new(paid.entitlement_id));
        let subscription_id = SubscriptionId::new(paid.subscription_id);
        let customer_id = CustomerId::new(Uuid::from_u128(7));
        let metadata = Metadata {
            correlation_id: format!("test-{}", paid.order_id),
            actor: "system:test".to_owned(),
            at,
            ..Metadata::default()
        };
        let streams = [
            StreamId::of::<Order>(paid.order_id),
            StreamId::of::<Entitlement>(paid.entitlement_id),
        ];
        let mut uow = self.store.load(&streams, metadata.clone()).await.unwrap();
        let terms = terms();
        let place = order::Command::Place {
            order_id,
            customer_id,
            item: Item::Plan {
                operation,
                entitlement_id,
                subscription_id,
                terms: terms.clone(),
            },
            currency: "RUB".parse::<Currency>().unwrap(),
            subtotal_minor: 100,
            discount_minor: 100,
            wallet_minor: 0,
            expires_at: at + chrono::TimeDelta::hours(1),
            at,
        };
        uow.execute::<Order>(paid.order_id, place).unwrap();
        let open = OpenOperation {
            operation_id: OperationId::new(paid.operation_id),
            idempotency_key: format!("order:{order_id}:fulfill"),
            correlation_id: metadata.correlation_id.clone(),
        };
        let command = match operation {
            Operation::Purchase => entitlement::Command::Grant {
                entitlement_id,
                subscription_id,
                customer_id,
                order_id,
                terms,
                effective_at,
                operation: open,
                at,
            },
            Operation::Extension => entitlement::Command::Extend {
                order_id,
                terms,
                effective_at,
                operation: open,
                at,
            },
        };
        let events = uow.execute::<Entitlement>(paid.entitlement_id, command).unwrap();
        let version = events
            .iter()
            .find_map(|event| match event {
                entitlement::Event::OperationOpened { version, .. } => Some(*version),
                _ => None,
            })
            .unwrap();
        uow.enqueue_operation(NewOperation {
            operation_id: OperationId::new(paid.operation_id),
            entitlement_id,
            subscription_id,
            order_id: Some(order_id),
            operation: kind,
            version,
            idempotency_key: format!("order:{order_id}:fulfill"),
            correlation_id: metadata.correlation_id,
            effective_at,
        });
        uow.commit().await.unwrap();
        self.publish(paid.operation_id).await;
    }

    /// No publisher runs here: what it would insert is inserted.
    async fn publish(&self, operation_id: Uuid) {
        sqlx::query("update outbox set published_at = now() where published_at is null")
            .execute(&self.pool)
            .await
            .unwrap();
        self.enqueue(operation_id).await;
    }

    /// What an operator asks for, at once.
    pub(crate) async fn ask(&self, paid: Paid, asked: Asked) -> Uuid {
        self.open(paid, ChangeRequest::Change(asked), None).await
    }

    /// As [`Self::ask`], perhaps for later.
    pub(crate) async fn open(&self, paid: Paid, request: ChangeRequest, effective_at: Option<Timestamp>) -> Uuid {
        let change = ChangeEntitlement {
            entitlement_id: EntitlementId::new(paid.entitlement_id),
            request,
            effective_at,
            reason: Some("a test".to_owned()),
        };
        let key = IdempotencyKey::parse(&SystemIds.next().to_string()).unwrap();
        let key = KeyedRequest::new("operator:test", key, "POST /test", &change).unwrap();
        let caller = Caller::new("operator:1", "test");
        let done = self.service().change_entitlement(&caller, &key, &change).await.unwrap();
        self.publish(done.value.id).await;
        done.value.id
    }

    pub(crate) async fn enqueue(&self, operation_id: Uuid) -> i64 {
        let args = FulfillmentArgs { operation_id };
        self.queue.insert(&args, &serde_json::Map::new()).await.unwrap().id
    }

    /// Takes the live job of an operation as the queue's client would, and runs it here and now.
    pub(crate) async fn run(&self, operation_id: Uuid) -> Result<Outcome, Failure> {
        let run = self.fetch(operation_id).await;
        let ended = self.jobs.run(run.clone(), FulfillmentArgs { operation_id }).await;
        self.settle(&run, &ended).await;
        ended
    }

    /// Takes the live job of an operation: it is running then.
    pub(crate) async fn fetch(&self, operation_id: Uuid) -> Run {
        let (job_id, attempt): (i64, i16) = sqlx::query_as(
            "update river_job set state = 'running', attempt = attempt + 1, attempted_at = now()
             where args ->> 'operationId' = $1 and finalized_at is null returning id, attempt",
        )
        .bind(operation_id.to_string())
        .fetch_one(&self.pool)
        .await
        .unwrap();
        Run::driven(job_id, i32::from(attempt))
    }

    /// What the queue's client does with an outcome, where the run did not end its job itself.
    pub(crate) async fn settle(&self, run: &Run, ended: &Result<Outcome, Failure>) {
        let (state, back) = match ended {
            Ok(Outcome::Done) => ("completed", 0),
            Ok(Outcome::Snooze(_)) | Err(Failure::Interrupted) => ("available", 1),
            Err(Failure::Retry { .. }) => ("retryable", 0),
            Err(Failure::Cancel { .. }) => ("cancelled", 0),
        };
        sqlx::query(
            "update river_job set state = $2::text::river_job_state, attempt = attempt - $3::int,
                    finalized_at = case when $2 in ('completed', 'cancelled') then now() end
             where id = $1 and state = 'running'",
        )
        .bind(run.job_id)
        .bind(state)
        .bind(back)
        .execute(&self.pool)
        .await
        .unwrap();
    }

    /// Lets the stored due time pass.
    pub(crate) async fn due(&self, operation_id: Uuid) {
        sqlx::query("update fulfillment_operations set next_attempt_at = clock_timestamp() where operation_id = $1")
            .bind(operation_id)
            .execute(&self.pool)
            .await
            .unwrap();
    }

    pub(crate) async fn operation(&self, operation_id: Uuid) -> store::operations::Operation {
        let mut conn = self.pool.acquire().await.unwrap();
        store::operations::find_in(&mut conn, operation_id)
            .await
            .unwrap()
            .unwrap()
    }

    pub(crate) async fn count(&self, sql: &'static str) -> i64 {
        sqlx::query_scalar(sql).fetch_one(&self.pool).await.unwrap()
    }

    /// With the rights of the tables' owner.
    pub(crate) async fn as_owner(&self, sql: &'static str) {
        use sqlx::Connection as _;
        let mut owner = sqlx::PgConnection::connect(&self.db.owner_url).await.unwrap();
        sqlx::raw_sql(sql).execute(&mut owner).await.unwrap();
    }

    pub(crate) async fn entitlement(&self, id: Uuid) -> Entitlement {
        self.store.fold::<Entitlement>(id).await.unwrap().state
    }

    pub(crate) async fn order_state(&self, id: Uuid) -> order::State {
        self.store.fold::<Order>(id).await.unwrap().state.state
    }

    pub(crate) async fn job_state(&self, operation_id: Uuid) -> String {
        sqlx::query_scalar(
            "select state::text from river_job where args ->> 'operationId' = $1 order by id desc limit 1",
        )
        .bind(operation_id.to_string())
        .fetch_one(&self.pool)
        .await
        .unwrap()
    }
}

pub(crate) fn terms() -> Terms {
    Terms {
        plan_version_id: PlanVersionId::new(Uuid::from_u128(9)),
        plan_code: "month".to_owned(),
        duration_seconds: 30 * 86_400,
        grace_seconds: 3_600,
        limits: Limits {
            traffic_bytes: Some(100 << 30),
            devices: Some(3),
            squads: vec![sandbox::DEFAULT_SQUADS[0].0],
        },
    }
}
