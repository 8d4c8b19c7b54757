//! `entitlement.operation_opened` → one `fulfillment` job.

use domain::topics::OperationOpened;
use queue::FulfillmentArgs;
use store::outbox::Pending;

use crate::publisher::reactor::{Effect, Refused, job, payload};

pub(super) fn react(row: &Pending) -> Result<Vec<Effect>, Refused> {
    let OperationOpened { operation_id } = payload(row)?;
    let args = FulfillmentArgs {
        operation_id: operation_id.as_uuid(),
    };
    Ok(vec![job(row, &args)?])
}
