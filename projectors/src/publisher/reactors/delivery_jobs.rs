//! `delivery.owed` → one `goods_delivery` job.

use domain::topics::DeliveryOwed;
use queue::GoodsDeliveryArgs;
use store::outbox::Pending;

use crate::publisher::reactor::{Effect, Refused, job, payload};

pub(super) fn react(row: &Pending) -> Result<Vec<Effect>, Refused> {
    let DeliveryOwed { order_id } = payload(row)?;
    let args = GoodsDeliveryArgs {
        order_id: order_id.as_uuid(),
    };
    Ok(vec![job(row, &args)?])
}
