//! The read model `entitlements`: one row an entitlement, with what it is owed and what the panel shows.

mod rows;

use domain::{
    entitlement::{Entitlement, Event, RemoteStatus},
    log::Recorded,
    plan::{Limits, Terms},
};
use sqlx::PgConnection;
use uuid::Uuid;

pub use rows::EntitlementRow;

use crate::{
    projection::{Projection, RowChange, Unfit, stream_id},
    table::{Table, table},
};

/// The projection.
#[derive(Debug)]
pub struct Entitlements;

static TABLE: Table = table!("entitlements", "entitlement_id");

impl Projection for Entitlements {
    type Aggregate = Entitlement;
    type Event = Event;
    type Row = EntitlementRow;
    type Context = ();

    const NAME: &'static str = "entitlements";
    const VERSION: u32 = 1;
    const TABLE: &'static Table = &TABLE;

    fn change(event: &Recorded<Event>, (): &()) -> Result<RowChange<EntitlementRow>, Unfit> {
        let id = stream_id(event)?;
        Ok(match event.event.clone() {
            granted @ Event::Granted { .. } => opened(id, event.position, granted),
            Event::Extended {
                terms,
                ends_at,
                limits,
                version,
                ..
            } => RowChange::amend(id, move |row: &mut EntitlementRow| {
                sold(row, terms);
                allowed(row, limits);
                row.ends_at = ends_at;
                row.desired_version = version;
            }),
            Event::EndMoved { ends_at, version, .. } | Event::Resumed { ends_at, version, .. } => {
                changed(id, version, move |row| row.ends_at = ends_at)
            }
            Event::LimitsChanged {
                traffic_bytes,
                devices,
                version,
                ..
            } => changed(id, version, move |row| {
                row.traffic_allowance_bytes = traffic_bytes;
                row.device_limit = devices;
            }),
            Event::SquadsChanged { squads, version, .. } => changed(id, version, move |row| row.squad_ids = squads),
            Event::Enabled { version, .. }
            | Event::Disabled { version, .. }
            | Event::TrafficReset { version, .. }
            | Event::Paused { version, .. } => changed(id, version, |_| {}),
            Event::OperationOpened { .. } | Event::OperationRetried { .. } => open_operations(id, 1),
            Event::Applied {
                version,
                remote_user_id,
                remote_status,
                ..
            } => RowChange::amend(id, move |row: &mut EntitlementRow| {
                row.applied_version = row.applied_version.max(version);
                row.remote_user_id = Some(remote_user_id);
                row.remote_status = Some(status(remote_status).to_owned());
            }),
            Event::OperationSucceeded { .. } | Event::OperationFailed { .. } | Event::OperationCancelled { .. } => {
                open_operations(id, -1)
            }
            Event::ChangePlanned { .. }
            | Event::ChangeDropped { .. }
            | Event::DriftDetected { .. }
            | Event::DriftCorrected { .. } => RowChange::Nothing,
        })
    }

    async fn load_in(connection: &mut PgConnection, keys: &[Uuid]) -> Result<Vec<EntitlementRow>, sqlx::Error> {
        rows::load_in(connection, keys).await
    }

    async fn save_in(connection: &mut PgConnection, rows: &[EntitlementRow]) -> Result<(), sqlx::Error> {
        rows::save_in(connection, rows).await
    }
}

fn opened(id: Uuid, position: i64, event: Event) -> RowChange<EntitlementRow> {
    let Event::Granted {
        subscription_id,
        customer_id,
        terms,
        starts_at,
        ends_at,
        version,
        at,
        ..
    } = event
    else {
        return RowChange::Nothing;
    };
    let mut row = EntitlementRow {
        entitlement_id: id,
        subscription_id: subscription_id.as_uuid(),
        customer_id: customer_id.as_uuid(),
        plan_code: String::new(),
        starts_at,
        ends_at,
        grace_seconds: 0,
        traffic_allowance_bytes: None,
        device_limit: None,
        squad_ids: Vec::new(),
        desired_version: version,
        applied_version: 0,
        remote_user_id: None,
        remote_status: None,
        open_operations: 0,
        created_at: at,
        last_position: position,
    };
    sold(&mut row, terms);
    RowChange::Insert(row)
}

/// The newest terms are what the customer has.
fn sold(row: &mut EntitlementRow, terms: Terms) {
    row.plan_code = terms.plan_code;
    row.grace_seconds = terms.grace_seconds;
    allowed(row, terms.limits);
}

fn allowed(row: &mut EntitlementRow, limits: Limits) {
    row.traffic_allowance_bytes = limits.traffic_bytes;
    row.device_limit = limits.devices;
    row.squad_ids = limits.squads;
}

/// An operator's change.
fn changed(
    id: Uuid,
    version: i64,
    amend: impl FnOnce(&mut EntitlementRow) + Send + 'static,
) -> RowChange<EntitlementRow> {
    RowChange::amend(id, move |row: &mut EntitlementRow| {
        amend(row);
        row.desired_version = version;
    })
}

fn open_operations(id: Uuid, by: i32) -> RowChange<EntitlementRow> {
    RowChange::amend(id, move |row: &mut EntitlementRow| {
        row.open_operations = row.open_operations.saturating_add(by);
    })
}

fn status(status: RemoteStatus) -> &'static str {
    match status {
        RemoteStatus::Active => "active",
        RemoteStatus::Disabled => "disabled",
        RemoteStatus::Limited => "limited",
        RemoteStatus::Expired => "expired",
        RemoteStatus::Other => "other",
    }
}
