//! Listing orders from their read model, with the position it has reached.

use std::time::Duration;

use store::read_model::{self, OrderFilter, OrderRow, Page};

use crate::{Error, OrderView, Refusal, Service};

/// How long a reader waits for the read model to reach the position it asked for.
const PATIENCE: Duration = Duration::from_secs(2);

impl Service {
    /// Orders, newest first. With `at_least` the answer comes once the read model has followed the log that far.
    ///
    /// # Errors
    /// [`Error::Refused`] (`position_not_reached`, 412) when it does not get there in two seconds, or a fault of the store.
    pub async fn list_orders(&self, filter: &OrderFilter, at_least: Option<i64>) -> Result<Page<OrderView>, Error> {
        if let Some(wanted) = at_least
            && !read_model::wait_for(self.store.pool(), "orders", wanted, PATIENCE).await?
        {
            return Err(Refusal::new(
                412,
                "position_not_reached",
                "the list has not followed the log that far yet",
            )
            .into());
        }
        let page = read_model::orders(self.store.pool(), filter).await?;
        Ok(Page {
            position: page.position,
            rows: page.rows.into_iter().map(view).collect(),
        })
    }
}

fn view(row: OrderRow) -> OrderView {
    OrderView {
        id: row.order_id,
        customer_id: row.customer_id,
        state: row.state,
        operation: row.operation,
        currency: row.currency,
        subtotal_minor: row.subtotal_minor,
        discount_minor: row.discount_minor,
        wallet_minor: row.wallet_minor,
        external_minor: row.external_minor,
        paid_minor: row.paid_minor,
        refunded_minor: 0,
        entitlement_id: row.entitlement_id,
        subscription_id: row.subscription_id,
        expires_at: row.expires_at,
        created_at: row.created_at,
    }
}
