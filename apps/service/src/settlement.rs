//! What a paid order leads to, decided inside the unit of work that made it paid: "a paid order always has its work recorded".

use domain::{
    delivery::{self, Delivery},
    entitlement::{self, Entitlement, OpenOperation},
    ids::{EntitlementId, OperationId, OrderId, SubscriptionId},
    money::Money,
    order::{self, Item, Operation, Order},
    time::Timestamp,
};
use store::{NewDelivery, NewOperation, StreamId, UnitOfWork};

use crate::Error;

/// Streams that settling an order may touch, beside the order's own.
pub(crate) fn streams(order_id: OrderId, entitlement_id: Option<EntitlementId>) -> [StreamId; 2] {
    let counterpart = entitlement_id.map_or_else(|| StreamId::of::<Delivery>(order_id), StreamId::of::<Entitlement>);
    [StreamId::of::<Order>(order_id), counterpart]
}

/// True where these events of an order made it paid.
pub(crate) fn is_settled(events: &[order::Event]) -> bool {
    events.iter().any(|event| matches!(event, order::Event::Paid { .. }))
}

/// Grants, extends or owes what a paid order bought. `operation_id` stays the same when the use case runs again.
pub(crate) fn settle(
    work: &mut UnitOfWork,
    order_id: OrderId,
    operation_id: OperationId,
    correlation_id: &str,
    at: Timestamp,
) -> Result<(), Error> {
    let order = work.state::<Order>(order_id)?;
    let customer_id = order.customer_id;
    // What the customer gave for it, whoever brought it: the debt if the goods never come.
    let paid = order
        .currency
        .and_then(|currency| Money::new(order.paid_minor, currency).ok());
    match (order.item.clone(), paid) {
        (Some(Item::Goods { product }), Some(price)) => {
            let command = delivery::Command::Owe {
                order_id,
                customer_id,
                product,
                price,
                at,
            };
            owe(work, order_id, command, correlation_id)
        }
        (
            Some(Item::Plan {
                operation,
                entitlement_id,
                subscription_id,
                terms,
            }),
            _,
        ) => {
            let open = OpenOperation {
                operation_id,
                idempotency_key: format!("order:{order_id}:fulfill"),
                correlation_id: correlation_id.to_owned(),
            };
            let command = match operation {
                Operation::Purchase => entitlement::Command::Grant {
                    entitlement_id,
                    subscription_id,
                    customer_id,
                    order_id,
                    terms,
                    effective_at: None,
                    operation: open,
                    at,
                },
                Operation::Extension => entitlement::Command::Extend {
                    order_id,
                    terms,
                    effective_at: None,
                    operation: open,
                    at,
                },
            };
            change(work, entitlement_id, subscription_id, command)
        }
        (None, _) | (Some(Item::Goods { .. }), None) => Err(Error::Inconsistent("a paid order without an item")),
    }
}

/// The delivery, and the row by which the schedule finds it.
fn owe(
    work: &mut UnitOfWork,
    order_id: OrderId,
    command: delivery::Command,
    correlation_id: &str,
) -> Result<(), Error> {
    let events = work.execute::<Delivery>(order_id, command).map_err(Error::executing)?;
    for event in events {
        if let delivery::Event::Owed { product, .. } = event {
            work.owe_delivery(NewDelivery {
                order_id,
                provider: product.provider,
                correlation_id: correlation_id.to_owned(),
            });
        }
    }
    Ok(())
}

/// The entitlement, and the row of the operation that it opened.
fn change(
    work: &mut UnitOfWork,
    entitlement_id: EntitlementId,
    subscription_id: SubscriptionId,
    command: entitlement::Command,
) -> Result<(), Error> {
    let events = work
        .execute::<Entitlement>(entitlement_id, command)
        .map_err(Error::executing)?;
    for event in &events {
        if let Some(row) = operation_row(event, entitlement_id, subscription_id) {
            work.enqueue_operation(row);
        }
    }
    Ok(())
}

/// The operational row of an operation that an entitlement opened.
pub(crate) fn operation_row(
    event: &entitlement::Event,
    entitlement_id: EntitlementId,
    subscription_id: SubscriptionId,
) -> Option<NewOperation> {
    match event {
        entitlement::Event::OperationOpened {
            operation_id,
            operation,
            version,
            order_id,
            idempotency_key,
            correlation_id,
            effective_at,
            ..
        } => Some(NewOperation {
            operation_id: *operation_id,
            entitlement_id,
            subscription_id,
            order_id: *order_id,
            operation: operation.clone(),
            version: *version,
            idempotency_key: idempotency_key.clone(),
            correlation_id: correlation_id.clone(),
            effective_at: *effective_at,
        }),
        _ => None,
    }
}
