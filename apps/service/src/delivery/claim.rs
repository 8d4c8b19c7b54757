//! Before the call: may this run submit, or ask?

use std::time::Duration;

use domain::{
    delivery::{self, Delivery, FailureClass, POLL_SECONDS, State, Submission},
    goods::Product,
    time::{Timestamp, plus},
};
use queue::{Finish, finish_in};
use serde_json::json;
use store::{
    OpenUnitOfWork, SideRows, StoreError, dead_letters,
    dead_letters::NewDeadLetter,
    deliveries::{self, Change, Spending},
    notices, recipients,
};
use uuid::Uuid;

use super::{Claim, Deliveries, Fault, Handed, JobRef, KIND, Poll, SUBMISSION, Submit, cost_minor, request, streams};
use crate::fulfillment::refused;

/// Wait while the provider is not configured in this installation.
const UNCONFIGURED: Duration = Duration::from_mins(1);

/// Wait while the ceiling is reached.
const CEILING: Duration = Duration::from_mins(10);

const TRIES: u32 = 5;

/// A delivery that may be submitted now.
struct Due<'a> {
    job: JobRef,
    row: &'a deliveries::Delivery,
    product: Product,
    attempt: i32,
    now: Timestamp,
}

impl Deliveries {
    /// Claims the goods of an order for one run.
    ///
    /// # Errors
    /// [`Fault`] when the store fails, or the stream cannot be read.
    pub async fn claim(&self, job: JobRef, order_id: Uuid) -> Result<Claim, Fault> {
        let now = self.clock.now();
        let mut lost = false;
        for _ in 0..TRIES {
            match self.try_claim(job, order_id, now, lost).await {
                Err(Fault::Store(error)) if error.is_rerunnable() => {
                    lost |= matches!(error, StoreError::CommitUnknown(_));
                }
                outcome => return outcome,
            }
        }
        Ok(Claim::Wait(Duration::from_millis(250)))
    }

    /// `lost`: a try before this one may have committed its submission without learning of it. It is known by its deadline.
    async fn try_claim(&self, job: JobRef, order_id: Uuid, now: Timestamp, lost: bool) -> Result<Claim, Fault> {
        let found = {
            let mut conn = self.store.pool().acquire().await.map_err(StoreError::from)?;
            deliveries::find_in(&mut conn, order_id).await?
        };
        let Some(found) = found else {
            self.close_unknown(job, order_id).await?;
            return Ok(Claim::Over);
        };
        let metadata = self.metadata(order_id, &found.correlation_id);
        let uow = self.store.load(&streams(order_id), metadata).await?;
        let mut open = uow.begin().await?;
        let Some(row) = deliveries::lock_in(open.conn(), order_id).await? else {
            return Err(StoreError::Conflict.into());
        };
        let delivery = open.state::<Delivery>(order_id)?.clone();
        match delivery.state {
            State::Absent => Err(Fault::Refused {
                code: "delivery_not_found",
            }),
            State::Delivered | State::Failed { .. } | State::Cancelled | State::NeedsReview { .. } => {
                finish_in(open.conn(), job.job_id, job.attempt, &Finish::Completed).await?;
                open.commit().await?;
                Ok(Claim::Over)
            }
            State::Submitting { attempt, deadline } if lost && deadline == plus(now, SUBMISSION) => {
                self.send_again(job, open, &row, &delivery, attempt).await
            }
            State::Submitting { attempt, deadline } => match ahead(deadline, now) {
                Some(rest) => Ok(Claim::Wait(rest)),
                None => self.abandoned(job, open, &row, &delivery, attempt).await,
            },
            State::Accepted { reference, .. } => match row.wait() {
                Some(rest) => Ok(Claim::Wait(rest)),
                None => self.poll(job, open, &row, reference).await,
            },
            State::Owed => self.submit_if_due(job, open, &row, &delivery, None, now).await,
            State::RetryWait { until } => self.submit_if_due(job, open, &row, &delivery, Some(until), now).await,
        }
    }

    async fn submit_if_due(
        &self,
        job: JobRef,
        open: OpenUnitOfWork,
        row: &deliveries::Delivery,
        delivery: &Delivery,
        until: Option<Timestamp>,
        now: Timestamp,
    ) -> Result<Claim, Fault> {
        if let Some(rest) = until.and_then(|until| ahead(until, now)).or_else(|| row.wait()) {
            return Ok(Claim::Wait(rest));
        }
        let Some(product) = delivery.product.clone() else {
            return Err(Fault::Refused {
                code: "delivery_without_product",
            });
        };
        let attempt = delivery.attempts.saturating_add(1);
        self.submit(
            open,
            delivery,
            Due {
                job,
                row,
                product,
                attempt,
                now,
            },
        )
        .await
    }

    async fn submit(&self, mut open: OpenUnitOfWork, delivery: &Delivery, due: Due<'_>) -> Result<Claim, Fault> {
        let (order_id, row) = (due.row.order_id, due.row);
        if self.providers.get(&due.product.provider).is_none() {
            let change = hold(row, UNCONFIGURED, "provider_unavailable", "provider_unconfigured");
            return hold_back(open, order_id, change, UNCONFIGURED).await;
        }
        let recipient = recipients::recipient_in(open.conn(), order_id).await?;
        if recipient.is_some() && !self.reserve(&mut open, delivery, &due).await? {
            tell_of_ceiling(&mut open, &due).await?;
            let change = hold(row, CEILING, "provider_balance", "spend_ceiling_reached");
            return hold_back(open, order_id, change, CEILING).await;
        }
        let start = delivery::Command::StartSubmission {
            deadline: plus(due.now, SUBMISSION),
            at: due.now,
        };
        open.execute::<Delivery>(order_id, start).map_err(refused)?;
        let Some(recipient) = recipient else {
            let outcome = Submission::Failed {
                class: FailureClass::RecipientInvalid,
                code: "recipient_erased".to_owned(),
            };
            let command = delivery::Command::RecordSubmission {
                attempt: due.attempt,
                outcome,
                at: due.now,
            };
            let handed = self.follow(&mut open, due.job, row, command).await?;
            open.commit().await?;
            return Ok(match handed {
                Handed::Ended => Claim::Over,
                Handed::Wait(span) => Claim::Wait(span),
            });
        };
        let change = Change {
            status: "submitted",
            attempt_count: due.attempt,
            due_in: Some(SUBMISSION),
            failure_class: None,
            code: None,
            reference: None,
        };
        deliveries::change_in(open.conn(), order_id, change).await?;
        let submit = Submit {
            job: due.job,
            provider: due.product.provider,
            attempt: due.attempt,
            correlation_id: row.correlation_id.clone(),
            request: request(order_id.into(), due.product.kind, recipient),
        };
        open.commit().await?;
        Ok(Claim::Submit(Box::new(submit)))
    }

    /// `false` when the ceiling would be passed. What was reserved counts until the attempt is known not to have been executed.
    async fn reserve(&self, open: &mut OpenUnitOfWork, delivery: &Delivery, due: &Due<'_>) -> Result<bool, Fault> {
        let (Some(ceiling), Some(price)) = (self.ceiling, delivery.price) else {
            return Ok(true);
        };
        let currency = price.currency();
        let spending = Spending {
            order_id: due.row.order_id,
            attempt: due.attempt,
            provider: &due.product.provider,
            cost_minor: cost_minor(&due.product, Some(price)),
            currency: currency.as_str(),
        };
        Ok(deliveries::reserve_in(open.conn(), spending, ceiling.amount_minor, ceiling.window).await?)
    }

    /// The next question is pushed out before this one is asked.
    async fn poll(
        &self,
        job: JobRef,
        mut open: OpenUnitOfWork,
        row: &deliveries::Delivery,
        reference: String,
    ) -> Result<Claim, Fault> {
        if self.providers.get(&row.provider).is_none() {
            let change = hold(row, UNCONFIGURED, "provider_unavailable", "provider_unconfigured");
            return hold_back(open, row.order_id, change, UNCONFIGURED).await;
        }
        let change = Change {
            status: "submitted",
            attempt_count: row.attempt_count,
            due_in: Some(SUBMISSION.max(Duration::from_secs(POLL_SECONDS.unsigned_abs()))),
            failure_class: None,
            code: None,
            reference: Some(&reference),
        };
        deliveries::change_in(open.conn(), row.order_id, change).await?;
        open.commit().await?;
        Ok(Claim::Poll(Box::new(Poll {
            job,
            order_id: row.order_id.into(),
            provider: row.provider.clone(),
            correlation_id: row.correlation_id.clone(),
            reference,
        })))
    }

    async fn close_unknown(&self, job: JobRef, order_id: Uuid) -> Result<(), Fault> {
        const CODE: &str = "delivery_not_found";
        let mut rows = SideRows::begin(self.store.pool()).await?;
        let letter = NewDeadLetter {
            kind: KIND,
            subject: &order_id.to_string(),
            job_id: Some(job.job_id),
            attempts: job.attempt,
            code: CODE,
            correlation_id: "",
        };
        dead_letters::insert_in(rows.conn(), letter).await?;
        let finish = Finish::Cancelled { error: CODE.to_owned() };
        finish_in(rows.conn(), job.job_id, job.attempt, &finish).await?;
        Ok(rows.commit().await?)
    }
}

fn ahead(at: Timestamp, now: Timestamp) -> Option<Duration> {
    (at - now).to_std().ok().filter(|rest| !rest.is_zero())
}

/// Not now, without an attempt.
fn hold<'a>(row: &deliveries::Delivery, due_in: Duration, class: &'a str, code: &'a str) -> Change<'a> {
    Change {
        status: if row.status == "submitted" {
            "submitted"
        } else {
            "pending"
        },
        attempt_count: row.attempt_count,
        due_in: Some(due_in),
        failure_class: Some(class),
        code: Some(code),
        reference: None,
    }
}

async fn hold_back(
    mut open: OpenUnitOfWork,
    order_id: Uuid,
    change: Change<'_>,
    span: Duration,
) -> Result<Claim, Fault> {
    deliveries::change_in(open.conn(), order_id, change).await?;
    open.commit().await?;
    Ok(Claim::Wait(span))
}

async fn tell_of_ceiling(open: &mut OpenUnitOfWork, due: &Due<'_>) -> Result<(), Fault> {
    let payload = json!({
        "orderId": due.row.order_id, "provider": due.row.provider, "reason": "spend_ceiling_reached", "status": "waiting",
    });
    let key = format!("goods-ceiling:{}", due.row.order_id);
    notices::insert_in(open.conn(), super::park::NOTICE, &key, &payload).await?;
    Ok(())
}
