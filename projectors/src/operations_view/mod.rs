//! The read model `operations_view`: one row an operation, as the log tells it (attempts under way are operational state, not here).

mod rows;

use std::collections::HashMap;

use domain::{
    entitlement::{Entitlement, Event},
    ids::OrderId,
    log::Recorded,
    time::Timestamp,
};
use sqlx::PgConnection;
use uuid::Uuid;

pub use rows::OperationRow;

use crate::{
    projection::{Projection, RowChange, Unfit, stream_id},
    table::{Table, table},
};

/// The projection.
#[derive(Debug)]
pub struct OperationsView;

static TABLE: Table = table!("operations_view", "operation_id");

/// The subscription of each entitlement that an event of the batch opens an operation on.
#[derive(Debug, Default)]
pub struct Subscriptions(HashMap<String, Uuid>);

impl Projection for OperationsView {
    type Aggregate = Entitlement;
    type Event = Event;
    type Row = OperationRow;
    type Context = Subscriptions;

    const NAME: &'static str = "operations_view";
    const VERSION: u32 = 1;
    const TABLE: &'static Table = &TABLE;

    async fn context_in(
        connection: &mut PgConnection,
        events: &[Recorded<Event>],
    ) -> Result<Subscriptions, sqlx::Error> {
        let mut known = HashMap::new();
        let mut wanted = Vec::new();
        for event in events {
            if let Event::Granted { subscription_id, .. } = &event.event {
                known.insert(event.aggregate_id.clone(), subscription_id.as_uuid());
            } else if opens(&event.event) && !known.contains_key(&event.aggregate_id) {
                wanted.push(event.aggregate_id.clone());
            }
        }
        wanted.sort_unstable();
        wanted.dedup();
        known.extend(rows::subscriptions_in(connection, &wanted).await?);
        Ok(Subscriptions(known))
    }

    fn change(event: &Recorded<Event>, context: &Subscriptions) -> Result<RowChange<OperationRow>, Unfit> {
        let entitlement_id = stream_id(event)?;
        Ok(match event.event.clone() {
            Event::Granted { .. }
            | Event::Extended { .. }
            | Event::EndMoved { .. }
            | Event::LimitsChanged { .. }
            | Event::SquadsChanged { .. }
            | Event::Enabled { .. }
            | Event::Disabled { .. }
            | Event::TrafficReset { .. }
            | Event::Paused { .. }
            | Event::Resumed { .. }
            | Event::ChangePlanned { .. }
            | Event::ChangeDropped { .. }
            | Event::Applied { .. }
            | Event::DriftDetected { .. }
            | Event::DriftCorrected { .. } => RowChange::Nothing,
            opening @ Event::OperationOpened { .. } => {
                let subscription = context.0.get(&event.aggregate_id).copied();
                let subscription = subscription.ok_or_else(|| Unfit::unknown("the subscription of the entitlement"))?;
                opened(opening, event.position, (entitlement_id, subscription))
            }
            Event::OperationSucceeded {
                operation_id,
                superseded,
                at,
            } => {
                let code = superseded.then(|| "entitlement_superseded".to_owned());
                closed(operation_id.as_uuid(), "succeeded", code, None, at)
            }
            Event::OperationFailed {
                operation_id,
                code,
                attempts,
                at,
            } => closed(operation_id.as_uuid(), "failed", Some(code), Some(attempts), at),
            Event::OperationCancelled { operation_id, code, at } => {
                closed(operation_id.as_uuid(), "cancelled", Some(code), None, at)
            }
            Event::OperationRetried { operation_id, .. } => {
                RowChange::amend(operation_id.as_uuid(), |row: &mut OperationRow| {
                    "open".clone_into(&mut row.state);
                    row.error_code = None;
                    row.attempts = None;
                    row.closed_at = None;
                })
            }
        })
    }

    async fn load_in(connection: &mut PgConnection, keys: &[Uuid]) -> Result<Vec<OperationRow>, sqlx::Error> {
        rows::load_in(connection, keys).await
    }

    async fn save_in(connection: &mut PgConnection, rows: &[OperationRow]) -> Result<(), sqlx::Error> {
        rows::save_in(connection, rows).await
    }
}

fn opens(event: &Event) -> bool {
    matches!(event, Event::OperationOpened { .. })
}

/// The row that an opening begins; `entitlement` and `subscription` are what the operation is for.
fn opened(event: Event, position: i64, (entitlement, subscription): (Uuid, Uuid)) -> RowChange<OperationRow> {
    let Event::OperationOpened {
        operation_id,
        operation,
        version,
        order_id,
        correlation_id,
        at,
        ..
    } = event
    else {
        return RowChange::Nothing;
    };
    RowChange::Insert(OperationRow {
        operation_id: operation_id.as_uuid(),
        entitlement_id: entitlement,
        subscription_id: subscription,
        order_id: order_id.map(OrderId::as_uuid),
        operation: operation.as_str().to_owned(),
        state: "open".to_owned(),
        version,
        error_code: None,
        attempts: None,
        correlation_id,
        opened_at: at,
        closed_at: None,
        last_position: position,
    })
}

fn closed(
    id: Uuid,
    state: &'static str,
    code: Option<String>,
    attempts: Option<i32>,
    at: Timestamp,
) -> RowChange<OperationRow> {
    RowChange::amend(id, move |row: &mut OperationRow| {
        state.clone_into(&mut row.state);
        row.error_code = code;
        row.attempts = attempts;
        row.closed_at = Some(at);
    })
}
