//! The twin of `settle`: the same rows, by one plain statement after the other.

use cqrs_es::{Aggregate as _, DomainEvent};
use domain::{aggregate::Decide as _, entitlement::Entitlement, ids::OperationId, order::Order};
use ports::ids::{Ids, SystemIds};
use serde::Serialize;
use sqlx::{PgPool, Postgres, Transaction};
use store::{KeyedRequest, canonical};

use super::{
    Side,
    seed::{Case, currency, metadata_text},
    settle::{Cases, answer, key},
};
use crate::failure::Failure;

/// Plain SQL on a pool with the settings of the command pool.
pub(crate) struct Raw {
    pool: PgPool,
    cases: Cases,
    metadata: String,
    order_events: Vec<(String, String)>,
    entitlement_events: Vec<(String, String)>,
}

impl Raw {
    /// Payloads are made once: plain SQL decides nothing.
    pub(crate) fn new(pool: PgPool, cases: Cases) -> Result<Self, Failure> {
        let (case, currency) = (Case::new(), currency()?);
        let (mut order, mut entitlement) = (Order::default(), Entitlement::default());
        let mut order_events = Vec::new();
        for command in [
            case.place(currency),
            case.open_intent(),
            case.payment("paid-1".to_owned(), 0, currency)?,
        ] {
            order_events.clear();
            for event in order.decide(command).map_err(Failure::unavailable)? {
                order_events.push(text(&event)?);
                order.apply(event);
            }
        }
        let mut entitlement_events = Vec::new();
        let commands = case
            .granted()
            .into_iter()
            .chain([case.extend(OperationId::new(SystemIds.next()))]);
        for command in commands {
            entitlement_events.clear();
            for event in entitlement.decide(command).map_err(Failure::unavailable)? {
                entitlement_events.push(text(&event)?);
                entitlement.apply(event);
            }
        }
        Ok(Self {
            pool,
            cases,
            metadata: metadata_text()?,
            order_events,
            entitlement_events,
        })
    }

    async fn load(
        &self,
        transaction: &mut Transaction<'static, Postgres>,
        kind: &str,
        id: &str,
    ) -> Result<i64, Failure> {
        let stored = sqlx::query(
            "select aggregate_type, aggregate_id, sequence, event_type, event_version, payload, metadata
            from events where aggregate_type = $1 and aggregate_id = $2 order by sequence",
        )
        .bind(kind)
        .bind(id)
        .fetch_all(&mut **transaction)
        .await?;
        Ok(i64::try_from(stored.len()).unwrap_or(i64::MAX))
    }

    async fn events(
        &self,
        transaction: &mut Transaction<'static, Postgres>,
        order: (&str, i64),
        entitlement: (&str, i64),
    ) -> Result<(), Failure> {
        let rows = (self.order_events.iter().map(|it| ("order", order, it))).chain(
            self.entitlement_events
                .iter()
                .map(|it| ("entitlement", entitlement, it)),
        );
        let (mut kinds, mut ids, mut sequences, mut types, mut payloads) = (vec![], vec![], vec![], vec![], vec![]);
        for (place, (kind, (id, length), (event_type, payload))) in (0_i64..).zip(rows) {
            kinds.push(kind);
            ids.push(id);
            // Unique within the stream is all that this side needs.
            sequences.push(length.saturating_add(place).saturating_add(1));
            types.push(event_type.as_str());
            payloads.push(payload.as_str());
        }
        sqlx::query(
            "insert into events (aggregate_type, aggregate_id, sequence, event_type, event_version, payload, metadata)
            select t, a, s, et, '1', p::jsonb, $1::text::jsonb
            from unnest($2::text[], $3::text[], $4::bigint[], $5::text[], $6::text[]) u (t, a, s, et, p)",
        )
        .bind(&self.metadata)
        .bind(kinds)
        .bind(ids)
        .bind(sequences)
        .bind(types)
        .bind(payloads)
        .execute(&mut **transaction)
        .await?;
        Ok(())
    }
}

fn text<E: DomainEvent + Serialize>(event: &E) -> Result<(String, String), Failure> {
    Ok((event.event_type(), canonical(event)?))
}

impl Side for Raw {
    type Task = ();

    async fn prepare(&self) -> Result<(), Failure> {
        self.cases.fill().await
    }

    fn task(&self) {}

    async fn step(&self, (): &mut ()) -> Result<u64, Failure> {
        let Some(case) = self.cases.next().await else {
            return Ok(0);
        };
        let (order, entitlement) = (case.order.to_string(), case.entitlement.to_string());
        let mut transaction = self.pool.begin().await?;
        let KeyedRequest {
            principal,
            key,
            fingerprint,
        } = key(&case)?;
        sqlx::query("select fingerprint, status, answer from idempotency_keys where principal = $1 and key = $2")
            .bind(&principal)
            .bind(key.as_str())
            .fetch_optional(&mut *transaction)
            .await?;
        let order_length = self.load(&mut transaction, "order", &order).await?;
        let entitlement_length = self.load(&mut transaction, "entitlement", &entitlement).await?;
        self.events(
            &mut transaction,
            (&order, order_length),
            (&entitlement, entitlement_length),
        )
        .await?;
        let operation = SystemIds.next();
        sqlx::query(
            "insert into outbox (topic, stream, payload, headers) values
            ('order.paid', 'order/' || $1, jsonb_build_object('orderId', $1::text, 'entitlementId', $2::text), $3),
            ('entitlement.operation_opened', 'entitlement/' || $2, jsonb_build_object('operationId', $4::text), $3)",
        )
        .bind(&order)
        .bind(&entitlement)
        .bind(serde_json::json!({ "correlationId": "0198bench-correlation-of-one-request" }))
        .bind(operation.to_string())
        .execute(&mut *transaction)
        .await?;
        sqlx::query(
            "insert into fulfillment_operations (operation_id, entitlement_id, subscription_id, order_id, operation, version,
                idempotency_key, correlation_id) values ($1, $2, $3, $4, 'extend', 2, $5, $6)",
        )
        .bind(operation)
        .bind(case.entitlement.as_uuid())
        .bind(case.subscription.as_uuid())
        .bind(case.order.as_uuid())
        .bind(format!("order:{order}:fulfill"))
        .bind("0198bench-correlation-of-one-request")
        .execute(&mut *transaction)
        .await?;
        sqlx::query(
            "insert into idempotency_keys (principal, key, fingerprint, status, answer) values ($1, $2, $3, 200, $4)",
        )
        .bind(&principal)
        .bind(key.as_str())
        .bind(fingerprint.as_slice())
        .bind(answer())
        .execute(&mut *transaction)
        .await?;
        transaction.commit().await?;
        Ok(1)
    }
}
