//! SQL of the read model `deliveries`.

use domain::time::Timestamp;
use sqlx::PgConnection;
use uuid::Uuid;

use crate::projection::{Row, column};

/// A row of `deliveries`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryRow {
    /// Key.
    pub order_id: Uuid,
    /// Who bought.
    pub customer_id: Uuid,
    /// Slug of the provider.
    pub provider: String,
    /// What was bought.
    pub product_code: String,
    /// `owed`, `submitting`, `accepted`, `retry_wait`, `needs_review`, `delivered`, `failed` or `cancelled`.
    pub state: String,
    /// Submissions started.
    pub attempts: i32,
    /// The provider's reference, once it accepted.
    pub provider_reference: Option<String>,
    /// Class of the last failure.
    pub failure_class: Option<String>,
    /// Code of the last failure.
    pub error_code: Option<String>,
    /// Owed back to the customer.
    pub refund_owed_minor: i64,
    /// As `RUB`.
    pub currency: String,
    /// When it was owed first.
    pub owed_at: Timestamp,
    /// When it ended.
    pub closed_at: Option<Timestamp>,
    /// Position of the newest event in this row.
    pub last_position: i64,
}

impl Row for DeliveryRow {
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

pub(super) async fn load_in(connection: &mut PgConnection, keys: &[Uuid]) -> Result<Vec<DeliveryRow>, sqlx::Error> {
    if keys.is_empty() {
        return Ok(Vec::new());
    }
    sqlx::query_as!(
        DeliveryRow,
        "select order_id, customer_id, provider, product_code, state, attempts, provider_reference, failure_class, error_code,
                refund_owed_minor, currency, owed_at, closed_at, last_position
           from deliveries where order_id = any($1)",
        keys
    )
    .fetch_all(connection)
    .await
}

#[expect(
    clippy::as_conversions,
    reason = "this is how sqlx is told that an array's elements may be null"
)]
pub(super) async fn save_in(connection: &mut PgConnection, rows: &[DeliveryRow]) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "insert into deliveries as r (order_id, customer_id, provider, product_code, state, attempts, provider_reference,
                failure_class, error_code, refund_owed_minor, currency, owed_at, closed_at, last_position)
         select * from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::integer[], $7::text[], $8::text[],
                $9::text[], $10::bigint[], $11::text[], $12::timestamptz[], $13::timestamptz[], $14::bigint[])
         on conflict (order_id) do update set
                customer_id = excluded.customer_id, provider = excluded.provider, product_code = excluded.product_code,
                state = excluded.state, attempts = excluded.attempts, provider_reference = excluded.provider_reference,
                failure_class = excluded.failure_class, error_code = excluded.error_code,
                refund_owed_minor = excluded.refund_owed_minor, currency = excluded.currency, owed_at = excluded.owed_at,
                closed_at = excluded.closed_at, last_position = excluded.last_position
          where r.last_position < excluded.last_position",
        &column(rows, |row| row.order_id),
        &column(rows, |row| row.customer_id),
        &column(rows, |row| row.provider.clone()),
        &column(rows, |row| row.product_code.clone()),
        &column(rows, |row| row.state.clone()),
        &column(rows, |row| row.attempts),
        &column(rows, |row| row.provider_reference.clone()) as &[Option<String>],
        &column(rows, |row| row.failure_class.clone()) as &[Option<String>],
        &column(rows, |row| row.error_code.clone()) as &[Option<String>],
        &column(rows, |row| row.refund_owed_minor),
        &column(rows, |row| row.currency.clone()),
        &column(rows, |row| row.owed_at),
        &column(rows, |row| row.closed_at) as &[Option<Timestamp>],
        &column(rows, |row| row.last_position),
    )
    .execute(connection)
    .await?;
    Ok(())
}
