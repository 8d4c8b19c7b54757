//! The pass over the stage's entitlements, and what it left.

use uuid::Uuid;

use super::Stage;

impl Stage {
    /// The read model's row as the projection would write it, and a pass over everybody who is due.
    pub(crate) async fn reconcile(&self) -> service::fulfillment::UpkeepReport {
        sqlx::query(
            "insert into read.entitlements (entitlement_id, subscription_id, customer_id, plan_code, starts_at, ends_at, grace_seconds,
                 squad_ids, desired_version, applied_version, open_operations, created_at, last_position)
             select distinct aggregate_id::uuid, (payload ->> 'subscriptionId')::uuid, (payload ->> 'customerId')::uuid, 'month',
                 (payload ->> 'startsAt')::timestamptz, (payload ->> 'endsAt')::timestamptz, 0, '{}'::uuid[], 1, 1, 0, now(), 1
             from events where event_type = 'entitlement.granted' and payload ? 'subscriptionId' on conflict do nothing",
        )
        .execute(&self.pool)
        .await
        .unwrap();
        self.fulfillment.reconcile_due(500).await.unwrap()
    }

    /// The newest `reconcile`.
    pub(crate) async fn newest_reconcile(&self) -> Uuid {
        sqlx::query_scalar(
            "select operation_id from fulfillment_operations where operation = 'reconcile' order by created_at desc limit 1",
        )
        .fetch_one(&self.pool)
        .await
        .unwrap()
    }

    /// Time for the next bucket of the pass.
    pub(crate) fn next_bucket(&self) {
        self.clock.advance(chrono::TimeDelta::minutes(15));
    }

    pub(crate) async fn drifts(&self) -> Vec<store::drifts::DriftRow> {
        store::drifts::list(&self.pool, None, None, 100).await.unwrap()
    }

    pub(crate) async fn events(&self, event_type: &str) -> i64 {
        sqlx::query_scalar("select count(*) from events where event_type = $1")
            .bind(event_type)
            .fetch_one(&self.pool)
            .await
            .unwrap()
    }
}
