//! SQL of the read model `operations_view`.

use domain::time::Timestamp;
use sqlx::PgConnection;
use uuid::Uuid;

use crate::projection::{Row, column};

/// A row of `operations_view`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperationRow {
    /// Key.
    pub operation_id: Uuid,
    /// Whose desired state it applies.
    pub entitlement_id: Uuid,
    /// The remote user.
    pub subscription_id: Uuid,
    /// The order behind it.
    pub order_id: Option<Uuid>,
    /// As `create`.
    pub operation: String,
    /// `open`, `succeeded`, `failed` or `cancelled`.
    pub state: String,
    /// Desired version it was opened for.
    pub version: i64,
    /// Why it failed or was cancelled; `entitlement_superseded` when a newer version was shown already.
    pub error_code: Option<String>,
    /// Failures counted when it gave up.
    pub attempts: Option<i32>,
    /// Ties it to the request behind it.
    pub correlation_id: String,
    /// When it was opened.
    pub opened_at: Timestamp,
    /// When it ended.
    pub closed_at: Option<Timestamp>,
    /// Position of the newest event in this row.
    pub last_position: i64,
}

impl Row for OperationRow {
    fn key(&self) -> Uuid {
        self.operation_id
    }

    fn last_position(&self) -> i64 {
        self.last_position
    }

    fn move_to(&mut self, position: i64) {
        self.last_position = position;
    }
}

/// Subscriptions of entitlements, from the first event of their streams.
pub(super) async fn subscriptions_in(
    connection: &mut PgConnection,
    entitlements: &[String],
) -> Result<Vec<(String, Uuid)>, sqlx::Error> {
    if entitlements.is_empty() {
        return Ok(Vec::new());
    }
    let rows = sqlx::query!(
        r#"select aggregate_id, (payload->>'subscriptionId')::uuid as "subscription_id!" from events
            where aggregate_type = 'entitlement' and aggregate_id = any($1) and sequence = 1
              and event_type = 'entitlement.granted'"#,
        entitlements
    )
    .fetch_all(connection)
    .await?;
    Ok(rows
        .into_iter()
        .map(|row| (row.aggregate_id, row.subscription_id))
        .collect())
}

pub(super) async fn load_in(connection: &mut PgConnection, keys: &[Uuid]) -> Result<Vec<OperationRow>, sqlx::Error> {
    if keys.is_empty() {
        return Ok(Vec::new());
    }
    sqlx::query_as!(
        OperationRow,
        "select operation_id, entitlement_id, subscription_id, order_id, operation, state, version, error_code, attempts,
                correlation_id, opened_at, closed_at, last_position
           from operations_view where operation_id = any($1)",
        keys
    )
    .fetch_all(connection)
    .await
}

#[expect(
    clippy::as_conversions,
    reason = "this is how sqlx is told that an array's elements may be null"
)]
pub(super) async fn save_in(connection: &mut PgConnection, rows: &[OperationRow]) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "insert into operations_view as r (operation_id, entitlement_id, subscription_id, order_id, operation, state, version,
                error_code, attempts, correlation_id, opened_at, closed_at, last_position)
         select * from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::text[], $6::text[], $7::bigint[], $8::text[],
                $9::integer[], $10::text[], $11::timestamptz[], $12::timestamptz[], $13::bigint[])
         on conflict (operation_id) do update set
                entitlement_id = excluded.entitlement_id, subscription_id = excluded.subscription_id, order_id = excluded.order_id,
                operation = excluded.operation, state = excluded.state, version = excluded.version,
                error_code = excluded.error_code, attempts = excluded.attempts, correlation_id = excluded.correlation_id,
                opened_at = excluded.opened_at, closed_at = excluded.closed_at, last_position = excluded.last_position
          where r.last_position < excluded.last_position",
        &column(rows, |row| row.operation_id),
        &column(rows, |row| row.entitlement_id),
        &column(rows, |row| row.subscription_id),
        &column(rows, |row| row.order_id) as &[Option<Uuid>],
        &column(rows, |row| row.operation.clone()),
        &column(rows, |row| row.state.clone()),
        &column(rows, |row| row.version),
        &column(rows, |row| row.error_code.clone()) as &[Option<String>],
        &column(rows, |row| row.attempts) as &[Option<i32>],
        &column(rows, |row| row.correlation_id.clone()),
        &column(rows, |row| row.opened_at),
        &column(rows, |row| row.closed_at) as &[Option<Timestamp>],
        &column(rows, |row| row.last_position),
    )
    .execute(connection)
    .await?;
    Ok(())
}
