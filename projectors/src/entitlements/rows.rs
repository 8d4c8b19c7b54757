//! SQL of the read model `entitlements`.

use domain::time::Timestamp;
use sqlx::PgConnection;
use uuid::Uuid;

use crate::projection::{Row, column};

/// A row of `entitlements`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntitlementRow {
    /// Key.
    pub entitlement_id: Uuid,
    /// The remote user.
    pub subscription_id: Uuid,
    /// Whose it is.
    pub customer_id: Uuid,
    /// Plan of the newest terms.
    pub plan_code: String,
    /// Begin of the first period.
    pub starts_at: Timestamp,
    /// Paid end.
    pub ends_at: Timestamp,
    /// How long access stays open after it.
    pub grace_seconds: i64,
    /// Bytes a period; `None` is unlimited.
    pub traffic_allowance_bytes: Option<i64>,
    /// Devices at once; `None` is unlimited.
    pub device_limit: Option<i32>,
    /// Squads of the panel.
    pub squad_ids: Vec<Uuid>,
    /// Version the panel must come to show.
    pub desired_version: i64,
    /// Version it shows.
    pub applied_version: i64,
    /// The panel's own id of the user.
    pub remote_user_id: Option<i64>,
    /// What the panel said of the user last.
    pub remote_status: Option<String>,
    /// Operations that have not ended.
    pub open_operations: i32,
    /// When it was granted.
    pub created_at: Timestamp,
    /// Position of the newest event in this row.
    pub last_position: i64,
}

impl Row for EntitlementRow {
    fn key(&self) -> Uuid {
        self.entitlement_id
    }

    fn last_position(&self) -> i64 {
        self.last_position
    }

    fn move_to(&mut self, position: i64) {
        self.last_position = position;
    }
}

pub(super) async fn load_in(connection: &mut PgConnection, keys: &[Uuid]) -> Result<Vec<EntitlementRow>, sqlx::Error> {
    if keys.is_empty() {
        return Ok(Vec::new());
    }
    sqlx::query_as!(
        EntitlementRow,
        "select entitlement_id, subscription_id, customer_id, plan_code, starts_at, ends_at, grace_seconds, traffic_allowance_bytes,
                device_limit, squad_ids, desired_version, applied_version, remote_user_id, remote_status, open_operations, created_at,
                last_position
           from entitlements where entitlement_id = any($1)",
        keys
    )
    .fetch_all(connection)
    .await
}

#[expect(
    clippy::as_conversions,
    reason = "this is how sqlx is told that an array's elements may be null"
)]
pub(super) async fn save_in(connection: &mut PgConnection, rows: &[EntitlementRow]) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "insert into entitlements as r (entitlement_id, subscription_id, customer_id, plan_code, starts_at, ends_at, grace_seconds,
                traffic_allowance_bytes, device_limit, squad_ids, desired_version, applied_version, remote_user_id, remote_status,
                open_operations, created_at, last_position)
         select u.id, u.subscription, u.customer, u.plan, u.starts, u.ends, u.grace, u.traffic, u.devices, u.squads::uuid[], u.desired,
                u.applied, u.remote_user, u.remote_status, u.open_operations, u.created, u.position
           from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::timestamptz[], $6::timestamptz[], $7::bigint[],
                $8::bigint[], $9::integer[], $10::text[], $11::bigint[], $12::bigint[], $13::bigint[], $14::text[], $15::integer[],
                $16::timestamptz[], $17::bigint[])
                as u(id, subscription, customer, plan, starts, ends, grace, traffic, devices, squads, desired, applied, remote_user,
                remote_status, open_operations, created, position)
         on conflict (entitlement_id) do update set
                subscription_id = excluded.subscription_id, customer_id = excluded.customer_id, plan_code = excluded.plan_code,
                starts_at = excluded.starts_at, ends_at = excluded.ends_at, grace_seconds = excluded.grace_seconds,
                traffic_allowance_bytes = excluded.traffic_allowance_bytes, device_limit = excluded.device_limit,
                squad_ids = excluded.squad_ids, desired_version = excluded.desired_version,
                applied_version = excluded.applied_version, remote_user_id = excluded.remote_user_id,
                remote_status = excluded.remote_status, open_operations = excluded.open_operations,
                created_at = excluded.created_at, last_position = excluded.last_position
          where r.last_position < excluded.last_position",
        &column(rows, |row| row.entitlement_id),
        &column(rows, |row| row.subscription_id),
        &column(rows, |row| row.customer_id),
        &column(rows, |row| row.plan_code.clone()),
        &column(rows, |row| row.starts_at),
        &column(rows, |row| row.ends_at),
        &column(rows, |row| row.grace_seconds),
        &column(rows, |row| row.traffic_allowance_bytes) as &[Option<i64>],
        &column(rows, |row| row.device_limit) as &[Option<i32>],
        &column(rows, |row| array_literal(&row.squad_ids)),
        &column(rows, |row| row.desired_version),
        &column(rows, |row| row.applied_version),
        &column(rows, |row| row.remote_user_id) as &[Option<i64>],
        &column(rows, |row| row.remote_status.clone()) as &[Option<String>],
        &column(rows, |row| row.open_operations),
        &column(rows, |row| row.created_at),
        &column(rows, |row| row.last_position),
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// An array as text: unnest would flatten an array of arrays.
fn array_literal(ids: &[Uuid]) -> String {
    let ids: Vec<String> = ids.iter().map(Uuid::to_string).collect();
    format!("{{{}}}", ids.join(","))
}
