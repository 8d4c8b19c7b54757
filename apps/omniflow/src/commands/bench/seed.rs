//! Streams for the benchmarks: decided by the domain, linked as the store links them, inserted in bulk.

use cqrs_es::DomainEvent as _;
use domain::{
    aggregate::Decide,
    entitlement::{self, Entitlement, OpenOperation, RemoteStatus},
    ids::{CustomerId, EntitlementId, IntentId, OperationId, OrderId, PlanVersionId, SubscriptionId},
    log::Metadata,
    money::{Currency, Money},
    order::{self, Item, Operation, Order},
    plan::{Limits, Terms},
    time::Timestamp,
};
use ports::ids::{Ids, SystemIds};
use sqlx::PgPool;
use store::{
    StoreError, canonical,
    hash::{Envelope, GENESIS, Hash, link},
};

use crate::failure::Failure;

/// What an order of the benchmarks costs, in minor units.
const PRICE: i64 = 29_900;

/// Rows for one bulk insert.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    types: Vec<&'static str>,
    ids: Vec<String>,
    sequences: Vec<i64>,
    event_types: Vec<String>,
    versions: Vec<String>,
    payloads: Vec<String>,
    hashes: Vec<Vec<u8>>,
}

impl Rows {
    /// Decides commands on a new stream and takes its events.
    pub(crate) fn stream<A: Decide>(
        &mut self,
        id: &str,
        metadata: &str,
        commands: Vec<A::Command>,
    ) -> Result<(), Failure> {
        let mut state = A::default();
        let (mut sequence, mut hash): (i64, Hash) = (0, GENESIS);
        for command in commands {
            for event in state.decide(command).map_err(Failure::unavailable)? {
                sequence = sequence.saturating_add(1);
                let (event_type, event_version) = (event.event_type(), event.event_version());
                let payload = canonical(&event)?;
                let envelope = Envelope {
                    aggregate_type: A::TYPE,
                    aggregate_id: id,
                    sequence,
                    event_type: &event_type,
                    event_version: &event_version,
                    payload: &payload,
                    metadata,
                };
                hash = link(&hash, &envelope);
                self.types.push(A::TYPE);
                self.ids.push(id.to_owned());
                self.sequences.push(sequence);
                self.event_types.push(event_type);
                self.versions.push(event_version);
                self.payloads.push(payload);
                self.hashes.push(hash.to_vec());
                state.apply(event);
            }
        }
        Ok(())
    }

    /// How many.
    pub(crate) fn len(&self) -> usize {
        self.ids.len()
    }

    /// Writes them.
    pub(crate) async fn insert(self, pool: &PgPool, metadata: &str) -> Result<(), Failure> {
        sqlx::query(
            "insert into events (aggregate_type, aggregate_id, sequence, event_type, event_version, payload, metadata, hash)
            select t, a, s, et, ev, p::jsonb, $1::text::jsonb, h
            from unnest($2::text[], $3::text[], $4::bigint[], $5::text[], $6::text[], $7::text[], $8::bytea[])
                u (t, a, s, et, ev, p, h)",
        )
        .bind(metadata)
        .bind(self.types)
        .bind(self.ids)
        .bind(self.sequences)
        .bind(self.event_types)
        .bind(self.versions)
        .bind(self.payloads)
        .bind(self.hashes)
        .execute(pool)
        .await?;
        Ok(())
    }
}

/// The time of all commands: a benchmark needs one, not the right one.
pub(crate) fn now() -> Timestamp {
    Timestamp::from_timestamp(1_780_000_000, 0).unwrap_or_default()
}

/// What travels beside the events.
pub(crate) fn metadata() -> Metadata {
    Metadata {
        correlation_id: "0198bench-correlation-of-one-request".to_owned(),
        causation_id: Some("request:0198bench".to_owned()),
        actor: "system:bench".to_owned(),
        reason: None,
        at: now(),
    }
}

/// Canonical text of [`metadata`].
pub(crate) fn metadata_text() -> Result<String, StoreError> {
    canonical(&metadata())
}

/// One order with the entitlement it extends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Case {
    pub(crate) order: OrderId,
    pub(crate) intent: IntentId,
    pub(crate) entitlement: EntitlementId,
    pub(crate) subscription: SubscriptionId,
    pub(crate) customer: CustomerId,
}

impl Case {
    /// New ids.
    pub(crate) fn new() -> Self {
        let id = || SystemIds.next();
        Self {
            order: OrderId::new(id()),
            intent: IntentId::new(id()),
            entitlement: EntitlementId::new(id()),
            subscription: SubscriptionId::new(id()),
            customer: CustomerId::new(id()),
        }
    }

    /// Asks for an extension.
    pub(crate) fn place(&self, currency: Currency) -> order::Command {
        let at = now();
        order::Command::Place {
            order_id: self.order,
            customer_id: self.customer,
            item: Item::Plan {
                operation: Operation::Extension,
                entitlement_id: self.entitlement,
                subscription_id: self.subscription,
                terms: terms(),
            },
            currency,
            subtotal_minor: PRICE,
            discount_minor: 0,
            wallet_minor: 0,
            expires_at: domain::time::plus_seconds(at, 3_600).unwrap_or(at),
            at,
        }
    }

    /// Asks a provider.
    pub(crate) fn open_intent(&self) -> order::Command {
        order::Command::OpenIntent {
            intent_id: self.intent,
            provider: "manual".to_owned(),
            window_until: None,
            at: now(),
        }
    }

    /// Money came; `amount` 0 is the whole price.
    pub(crate) fn payment(
        &self,
        event: String,
        amount_minor: i64,
        currency: Currency,
    ) -> Result<order::Command, Failure> {
        let amount_minor = if amount_minor == 0 { PRICE } else { amount_minor };
        Ok(order::Command::ObservePayment {
            intent_id: self.intent,
            provider: "manual".to_owned(),
            provider_event_id: event,
            amount: Money::new(amount_minor, currency).map_err(Failure::unavailable)?,
            at: now(),
        })
    }

    /// The settlement's second half.
    pub(crate) fn extend(&self, operation_id: OperationId) -> entitlement::Command {
        entitlement::Command::Extend {
            order_id: self.order,
            terms: terms(),
            effective_at: None,
            operation: OpenOperation {
                operation_id,
                idempotency_key: format!("order:{}:fulfill", self.order),
                correlation_id: metadata().correlation_id,
            },
            at: now(),
        }
    }

    /// A first period, with the operation that provides it.
    pub(crate) fn grant(&self, operation_id: OperationId) -> entitlement::Command {
        let first_order = OrderId::new(SystemIds.next());
        entitlement::Command::Grant {
            entitlement_id: self.entitlement,
            subscription_id: self.subscription,
            customer_id: self.customer,
            order_id: first_order,
            terms: terms(),
            effective_at: None,
            operation: OpenOperation {
                operation_id,
                idempotency_key: format!("order:{first_order}:fulfill"),
                correlation_id: metadata().correlation_id,
            },
            at: now(),
        }
    }

    /// An entitlement whose first period was provided: four events.
    pub(crate) fn granted(&self) -> Vec<entitlement::Command> {
        let operation_id = OperationId::new(SystemIds.next());
        vec![
            self.grant(operation_id),
            entitlement::Command::RecordApplied {
                operation_id,
                version: 1,
                remote_user_id: 42,
                remote_status: RemoteStatus::Active,
                at: now(),
            },
        ]
    }

    /// Takes both streams, ready to be settled.
    pub(crate) fn seed(&self, rows: &mut Rows, metadata: &str, currency: Currency) -> Result<(), Failure> {
        rows.stream::<Order>(
            &self.order.to_string(),
            metadata,
            vec![self.place(currency), self.open_intent()],
        )?;
        rows.stream::<Entitlement>(&self.entitlement.to_string(), metadata, self.granted())
    }
}

/// A month with limits.
pub(crate) fn terms() -> Terms {
    Terms {
        plan_version_id: PlanVersionId::new(SystemIds.next()),
        plan_code: "month-100".to_owned(),
        duration_seconds: 2_592_000,
        grace_seconds: 86_400,
        limits: Limits {
            traffic_bytes: Some(107_374_182_400),
            devices: Some(3),
            squads: vec![SystemIds.next()],
        },
    }
}

/// The currency of the benchmarks.
pub(crate) fn currency() -> Result<Currency, Failure> {
    "RUB".parse().map_err(Failure::unavailable)
}
