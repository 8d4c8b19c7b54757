//! The read model `deliveries`: one row a delivery of goods.

mod rows;

use domain::{
    delivery::{Delivery, Event, FailureClass},
    log::Recorded,
    time::Timestamp,
};
use sqlx::PgConnection;
use uuid::Uuid;

pub use rows::DeliveryRow;

use crate::{
    projection::{Projection, RowChange, Unfit, stream_id},
    table::{Table, table},
};

/// The projection.
#[derive(Debug)]
pub struct Deliveries;

static TABLE: Table = table!("deliveries", "order_id");

impl Projection for Deliveries {
    type Aggregate = Delivery;
    type Event = Event;
    type Row = DeliveryRow;
    type Context = ();

    const NAME: &'static str = "deliveries";
    const VERSION: u32 = 1;
    const TABLE: &'static Table = &TABLE;

    fn change(event: &Recorded<Event>, (): &()) -> Result<RowChange<DeliveryRow>, Unfit> {
        let id = stream_id(event)?;
        Ok(match event.event.clone() {
            Event::Owed {
                customer_id,
                product,
                price,
                at,
                ..
            } => RowChange::Insert(DeliveryRow {
                order_id: id,
                customer_id: customer_id.as_uuid(),
                provider: product.provider,
                product_code: product.code,
                state: "owed".to_owned(),
                attempts: 0,
                provider_reference: None,
                failure_class: None,
                error_code: None,
                refund_owed_minor: 0,
                currency: price.currency().as_str().to_owned(),
                owed_at: at,
                closed_at: None,
                last_position: event.position,
            }),
            Event::SubmissionStarted { attempt, .. } => RowChange::amend(id, move |row: &mut DeliveryRow| {
                "submitting".clone_into(&mut row.state);
                row.attempts = attempt;
            }),
            Event::Accepted { reference, .. } => RowChange::amend(id, move |row: &mut DeliveryRow| {
                "accepted".clone_into(&mut row.state);
                row.provider_reference = Some(reference);
            }),
            Event::AttemptFailed {
                class, code, retry_at, ..
            } => RowChange::amend(id, move |row: &mut DeliveryRow| {
                // Without a next time, the event that follows says where it goes.
                if retry_at.is_some() {
                    "retry_wait".clone_into(&mut row.state);
                }
                row.failure_class = Some(class_name(class).to_owned());
                row.error_code = Some(code);
            }),
            Event::Parked { code, .. } => RowChange::amend(id, move |row: &mut DeliveryRow| {
                "needs_review".clone_into(&mut row.state);
                row.error_code = Some(code);
            }),
            Event::Delivered { at, .. }
            | Event::Resolved {
                delivered: true, at, ..
            } => ended(id, "delivered", None, at),
            Event::Resolved {
                delivered: false, at, ..
            } => ended(id, "failed", Some("resolved_not_delivered".to_owned()), at),
            Event::Failed { code, at } => ended(id, "failed", Some(code), at),
            Event::Cancelled { at, .. } => ended(id, "cancelled", None, at),
            Event::RefundOwed { amount, .. } => RowChange::amend(id, move |row: &mut DeliveryRow| {
                row.refund_owed_minor = amount.amount_minor();
            }),
        })
    }

    async fn load_in(connection: &mut PgConnection, keys: &[Uuid]) -> Result<Vec<DeliveryRow>, sqlx::Error> {
        rows::load_in(connection, keys).await
    }

    async fn save_in(connection: &mut PgConnection, rows: &[DeliveryRow]) -> Result<(), sqlx::Error> {
        rows::save_in(connection, rows).await
    }
}

/// An end; a code that an earlier event gave stays when this one gives none.
fn ended(id: Uuid, state: &'static str, code: Option<String>, at: Timestamp) -> RowChange<DeliveryRow> {
    RowChange::amend(id, move |row: &mut DeliveryRow| {
        state.clone_into(&mut row.state);
        row.closed_at = Some(at);
        if code.is_some() {
            row.error_code = code;
        }
    })
}

fn class_name(class: FailureClass) -> &'static str {
    match class {
        FailureClass::Retryable => "retryable",
        FailureClass::ProviderBalance => "provider_balance",
        FailureClass::ProviderUnavailable => "provider_unavailable",
        FailureClass::Permanent => "permanent",
        FailureClass::RecipientInvalid => "recipient_invalid",
        FailureClass::Ambiguous => "ambiguous",
    }
}
