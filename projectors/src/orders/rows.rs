//! SQL of the read model `orders`.

use domain::time::Timestamp;
use sqlx::PgConnection;
use uuid::Uuid;

use crate::projection::{Row, column};

/// A row of `orders`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderRow {
    /// Key.
    pub order_id: Uuid,
    /// Who buys.
    pub customer_id: Uuid,
    /// `purchase`, `extension` or `goods`.
    pub operation: String,
    /// `pending`, `paid`, `fulfilled`, `cancelled` or `expired`.
    pub state: String,
    /// As `RUB`.
    pub currency: String,
    /// Price before the discount.
    pub subtotal_minor: i64,
    /// Taken off.
    pub discount_minor: i64,
    /// Owed by the wallet.
    pub wallet_minor: i64,
    /// Owed through a provider.
    pub external_minor: i64,
    /// Paid through a provider.
    pub paid_minor: i64,
    /// Granted or extended by it.
    pub entitlement_id: Option<Uuid>,
    /// The remote user it is for.
    pub subscription_id: Option<Uuid>,
    /// End of the time to pay.
    pub expires_at: Timestamp,
    /// When it was placed.
    pub created_at: Timestamp,
    /// When it was settled.
    pub paid_at: Option<Timestamp>,
    /// When what was bought was provided.
    pub fulfilled_at: Option<Timestamp>,
    /// Payments seen that did not settle it.
    pub attention_count: i32,
    /// Position of the newest event in this row.
    pub last_position: i64,
}

impl Row for OrderRow {
    fn key(&self) -> Uuid {
        self.order_id
    }

    fn last_position(&self) -> i64 {
        self.last_position
    }

    fn move_to(&mut self, position: i64) {
        self.last_position = position;
    }
}

pub(super) async fn load_in(connection: &mut PgConnection, keys: &[Uuid]) -> Result<Vec<OrderRow>, sqlx::Error> {
    if keys.is_empty() {
        return Ok(Vec::new());
    }
    sqlx::query_as!(
        OrderRow,
        "select order_id, customer_id, operation, state, currency, subtotal_minor, discount_minor, wallet_minor, external_minor,
                paid_minor, entitlement_id, subscription_id, expires_at, created_at, paid_at, fulfilled_at, attention_count,
                last_position
           from orders where order_id = any($1)",
        keys
    )
    .fetch_all(connection)
    .await
}

#[expect(
    clippy::as_conversions,
    reason = "this is how sqlx is told that an array's elements may be null"
)]
pub(super) async fn save_in(connection: &mut PgConnection, rows: &[OrderRow]) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "insert into orders as r (order_id, customer_id, operation, state, currency, subtotal_minor, discount_minor, wallet_minor,
                external_minor, paid_minor, entitlement_id, subscription_id, expires_at, created_at, paid_at, fulfilled_at,
                attention_count, last_position)
         select * from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::bigint[], $8::bigint[],
                $9::bigint[], $10::bigint[], $11::uuid[], $12::uuid[], $13::timestamptz[], $14::timestamptz[], $15::timestamptz[],
                $16::timestamptz[], $17::integer[], $18::bigint[])
         on conflict (order_id) do update set
                customer_id = excluded.customer_id, operation = excluded.operation, state = excluded.state,
                currency = excluded.currency, subtotal_minor = excluded.subtotal_minor, discount_minor = excluded.discount_minor,
                wallet_minor = excluded.wallet_minor, external_minor = excluded.external_minor, paid_minor = excluded.paid_minor,
                entitlement_id = excluded.entitlement_id, subscription_id = excluded.subscription_id,
                expires_at = excluded.expires_at, created_at = excluded.created_at, paid_at = excluded.paid_at,
                fulfilled_at = excluded.fulfilled_at, attention_count = excluded.attention_count,
                last_position = excluded.last_position
          where r.last_position < excluded.last_position",
        &column(rows, |row| row.order_id),
        &column(rows, |row| row.customer_id),
        &column(rows, |row| row.operation.clone()),
        &column(rows, |row| row.state.clone()),
        &column(rows, |row| row.currency.clone()),
        &column(rows, |row| row.subtotal_minor),
        &column(rows, |row| row.discount_minor),
        &column(rows, |row| row.wallet_minor),
        &column(rows, |row| row.external_minor),
        &column(rows, |row| row.paid_minor),
        &column(rows, |row| row.entitlement_id) as &[Option<Uuid>],
        &column(rows, |row| row.subscription_id) as &[Option<Uuid>],
        &column(rows, |row| row.expires_at),
        &column(rows, |row| row.created_at),
        &column(rows, |row| row.paid_at) as &[Option<Timestamp>],
        &column(rows, |row| row.fulfilled_at) as &[Option<Timestamp>],
        &column(rows, |row| row.attention_count),
        &column(rows, |row| row.last_position),
    )
    .execute(connection)
    .await?;
    Ok(())
}
