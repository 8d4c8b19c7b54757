//! The reactors of this product, and the one list that says which topic has which.

mod delivery_jobs;
mod fulfillment_jobs;
mod notices;

use super::Reactors;

/// Every topic of `domain::topics` with its reactor. What is neither here nor declared without consumer is refused when it turns up.
pub fn standard() -> Reactors {
    Reactors::none()
        .with("entitlement.operation_opened", fulfillment_jobs::react)
        .with("delivery.owed", delivery_jobs::react)
        .with("order.paid", notices::react)
}
