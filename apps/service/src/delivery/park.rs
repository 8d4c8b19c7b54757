//! A submission without an outcome. It may have been executed, so only an idempotent provider may be asked to do it again.

use domain::delivery::{self, Delivery};
use serde_json::json;
use store::{
    OpenUnitOfWork,
    deliveries::{self, Change},
    notices, recipients,
};

use super::{Claim, Deliveries, Fault, Handed, JobRef, SUBMISSION, Submit, request};

/// Topic of what operators are told about deliveries.
pub(super) const NOTICE: &str = "fulfillment_failure";

impl Deliveries {
    /// Parks it, or sends the very same submission again where the provider promises that this buys once.
    pub(super) async fn abandoned(
        &self,
        job: JobRef,
        open: OpenUnitOfWork,
        row: &deliveries::Delivery,
        delivery: &Delivery,
        attempt: i32,
    ) -> Result<Claim, Fault> {
        let provider = self.providers.get(&row.provider);
        if provider.is_some_and(|provider| provider.is_idempotent()) {
            return match row.wait() {
                Some(rest) => Ok(Claim::Wait(rest)),
                None => self.send_again(job, open, row, delivery, attempt).await,
            };
        }
        self.park(job, open, row, attempt).await
    }

    /// The open submission, to be sent by this run. Parks it when its recipient was erased meanwhile.
    pub(super) async fn send_again(
        &self,
        job: JobRef,
        mut open: OpenUnitOfWork,
        row: &deliveries::Delivery,
        delivery: &Delivery,
        attempt: i32,
    ) -> Result<Claim, Fault> {
        let recipient = recipients::recipient_in(open.conn(), row.order_id).await?;
        let (Some(recipient), Some(product)) = (recipient, delivery.product.clone()) else {
            return self.park(job, open, row, attempt).await;
        };
        let change = Change {
            status: "submitted",
            attempt_count: attempt,
            due_in: Some(SUBMISSION),
            failure_class: None,
            code: None,
            reference: None,
        };
        deliveries::change_in(open.conn(), row.order_id, change).await?;
        open.commit().await?;
        Ok(Claim::Submit(Box::new(Submit {
            job,
            provider: product.provider,
            attempt,
            correlation_id: row.correlation_id.clone(),
            request: request(row.order_id.into(), product.kind, recipient),
        })))
    }

    async fn park(
        &self,
        job: JobRef,
        mut open: OpenUnitOfWork,
        row: &deliveries::Delivery,
        attempt: i32,
    ) -> Result<Claim, Fault> {
        let command = delivery::Command::ParkAbandoned {
            attempt,
            at: self.clock.now(),
        };
        let handed = self.follow(&mut open, job, row, command).await?;
        open.commit().await?;
        Ok(match handed {
            Handed::Ended => Claim::Over,
            Handed::Wait(span) => Claim::Wait(span),
        })
    }
}

/// A person has to find out: one message for one order.
pub(super) async fn notice_in(
    conn: &mut store::Connection,
    row: &deliveries::Delivery,
    code: &str,
) -> Result<(), Fault> {
    let payload = json!({
        "orderId": row.order_id, "provider": row.provider, "reason": "ambiguous_delivery", "errorCode": code,
        "status": "needs_review",
    });
    notices::insert_in(conn, NOTICE, &format!("goods-review:{}", row.order_id), &payload).await?;
    Ok(())
}

/// The seller's balance at the provider is too low: one message for one order, while it goes on trying.
pub(super) async fn balance_notice_in(conn: &mut store::Connection, row: &deliveries::Delivery) -> Result<(), Fault> {
    let payload = json!({
        "orderId": row.order_id, "provider": row.provider, "reason": "provider_balance", "status": "waiting",
    });
    notices::insert_in(conn, NOTICE, &format!("goods-balance:{}", row.order_id), &payload).await?;
    Ok(())
}
