//! The read model `orders`: one row an order.

mod rows;

use domain::{
    log::Recorded,
    order::{Classification, Event, Item, Operation, Order},
};
use sqlx::PgConnection;
use uuid::Uuid;

pub use rows::OrderRow;

use crate::{
    projection::{Projection, RowChange, Unfit, stream_id},
    table::{Table, table},
};

/// The projection.
#[derive(Debug)]
pub struct Orders;

static TABLE: Table = table!("orders", "order_id");

impl Projection for Orders {
    type Aggregate = Order;
    type Event = Event;
    type Row = OrderRow;
    type Context = ();

    const NAME: &'static str = "orders";
    const VERSION: u32 = 1;
    const TABLE: &'static Table = &TABLE;

    fn change(event: &Recorded<Event>, (): &()) -> Result<RowChange<OrderRow>, Unfit> {
        let id = stream_id(event)?;
        Ok(match event.event.clone() {
            placed @ Event::Placed { .. } => opened(id, event.position, placed),
            Event::WindowExtended { expires_at, .. } => RowChange::amend(id, move |row: &mut OrderRow| {
                row.expires_at = expires_at;
            }),
            Event::IntentOpened { .. } => RowChange::Nothing,
            Event::PaymentObserved { classification, .. } => {
                if settles(classification) {
                    RowChange::Nothing
                } else {
                    RowChange::amend(id, |row: &mut OrderRow| {
                        row.attention_count = row.attention_count.saturating_add(1);
                    })
                }
            }
            Event::Paid { paid_minor, at, .. } => RowChange::amend(id, move |row: &mut OrderRow| {
                "paid".clone_into(&mut row.state);
                row.paid_minor = paid_minor;
                row.paid_at = Some(at);
            }),
            Event::Cancelled { .. } => state(id, "cancelled"),
            Event::Expired { .. } => state(id, "expired"),
            Event::Fulfilled { at } => RowChange::amend(id, move |row: &mut OrderRow| {
                "fulfilled".clone_into(&mut row.state);
                row.fulfilled_at = Some(at);
            }),
        })
    }

    async fn load_in(connection: &mut PgConnection, keys: &[Uuid]) -> Result<Vec<OrderRow>, sqlx::Error> {
        rows::load_in(connection, keys).await
    }

    async fn save_in(connection: &mut PgConnection, rows: &[OrderRow]) -> Result<(), sqlx::Error> {
        rows::save_in(connection, rows).await
    }
}

fn opened(id: Uuid, position: i64, event: Event) -> RowChange<OrderRow> {
    let Event::Placed {
        customer_id,
        item,
        currency,
        subtotal_minor,
        discount_minor,
        wallet_minor,
        external_minor,
        expires_at,
        at,
        ..
    } = event
    else {
        return RowChange::Nothing;
    };
    let (operation, entitlement_id, subscription_id) = match item {
        Item::Plan {
            operation,
            entitlement_id,
            subscription_id,
            ..
        } => (
            match operation {
                Operation::Purchase => "purchase",
                Operation::Extension => "extension",
            },
            Some(entitlement_id.as_uuid()),
            Some(subscription_id.as_uuid()),
        ),
        Item::Goods { .. } => ("goods", None, None),
    };
    RowChange::Insert(OrderRow {
        order_id: id,
        customer_id: customer_id.as_uuid(),
        operation: operation.to_owned(),
        state: "pending".to_owned(),
        currency: currency.as_str().to_owned(),
        subtotal_minor,
        discount_minor,
        wallet_minor,
        external_minor,
        paid_minor: 0,
        entitlement_id,
        subscription_id,
        expires_at,
        created_at: at,
        paid_at: None,
        fulfilled_at: None,
        attention_count: 0,
        last_position: position,
    })
}

fn state(id: Uuid, state: &'static str) -> RowChange<OrderRow> {
    RowChange::amend(id, move |row: &mut OrderRow| state.clone_into(&mut row.state))
}

/// Whether a payment of this kind settles its order; one that does not wants a person's attention.
fn settles(classification: Classification) -> bool {
    match classification {
        Classification::Paid | Classification::Late | Classification::PaidAfterCancellation => true,
        Classification::Underpayment
        | Classification::Overpayment
        | Classification::CurrencyMismatch
        | Classification::Duplicate => false,
    }
}
