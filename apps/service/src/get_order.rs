//! Reading one order: its stream is folded, so the answer is always current.

use domain::{ids::OrderId, order::Order};

use crate::{Error, OrderView, Refusal, Service};

impl Service {
    /// One order.
    ///
    /// # Errors
    /// [`Error::Refused`] (`order_not_found`) or a fault of the store.
    pub async fn get_order(&self, order_id: OrderId) -> Result<OrderView, Error> {
        let folded = self.store.fold::<Order>(order_id.as_uuid()).await?;
        OrderView::of(&folded.state).ok_or_else(|| not_found().into())
    }
}

pub(crate) const fn not_found() -> Refusal {
    Refusal::new(404, "order_not_found", "the order does not exist")
}
