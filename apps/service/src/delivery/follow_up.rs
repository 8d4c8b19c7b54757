//! What a decision about a delivery brings about beside its events: its row, the order, the money reserved, what operators are told, its job.

use std::time::Duration;

use domain::{
    delivery::{self, Delivery, Event, FailureClass, POLL_SECONDS, State},
    order::{self, Order},
    time::Timestamp,
};
use queue::{Finish, finish_in};
use serde_json::json;
use store::{
    OpenUnitOfWork, dead_letters,
    dead_letters::NewDeadLetter,
    deliveries::{self, Change},
    notices,
};

use super::{Deliveries, Fault, Handed, JobRef, KIND, park};
use crate::fulfillment::refused;

impl Deliveries {
    /// Executes a command of the delivery and everything that follows. The caller holds the row's lock and commits.
    pub(super) async fn follow(
        &self,
        open: &mut OpenUnitOfWork,
        job: JobRef,
        row: &deliveries::Delivery,
        command: delivery::Command,
    ) -> Result<Handed, Fault> {
        let now = self.clock.now();
        let events = open.execute::<Delivery>(row.order_id, command).map_err(refused)?;
        let delivery = open.state::<Delivery>(row.order_id)?.clone();
        if delivery.state == State::Delivered {
            open.execute::<Order>(row.order_id, order::Command::MarkFulfilled { at: now })
                .map_err(refused)?;
        }
        let failed = last_failure(&events);
        let change = change(&delivery, failed, now);
        deliveries::change_in(open.conn(), row.order_id, change).await?;
        if let Some((attempt, class, _)) = failed.filter(|(_, class, _)| *class != FailureClass::Ambiguous) {
            tracing::info!(order_id = %row.order_id, attempt, class = class_name(class), "goods were not bought");
            deliveries::unspend_in(open.conn(), row.order_id, attempt).await?;
            if class == FailureClass::ProviderBalance {
                park::balance_notice_in(open.conn(), row).await?;
            }
        }
        self.tell(open, job, row, &delivery).await?;
        let Some(wait) = change.due_in else {
            finish_in(open.conn(), job.job_id, job.attempt, &Finish::Completed).await?;
            return Ok(Handed::Ended);
        };
        Ok(Handed::Wait(wait))
    }

    async fn tell(
        &self,
        open: &mut OpenUnitOfWork,
        job: JobRef,
        row: &deliveries::Delivery,
        delivery: &Delivery,
    ) -> Result<(), Fault> {
        let subject = row.order_id.to_string();
        match &delivery.state {
            State::NeedsReview { code } => park::notice_in(open.conn(), row, code).await,
            State::Failed { code } => {
                let letter = NewDeadLetter {
                    kind: KIND,
                    subject: &subject,
                    job_id: Some(job.job_id),
                    attempts: delivery.attempts,
                    code,
                    correlation_id: &row.correlation_id,
                };
                dead_letters::insert_in(open.conn(), letter).await?;
                let payload = json!({
                    "orderId": row.order_id, "provider": row.provider, "errorCode": code, "status": "failed",
                });
                notices::insert_in(open.conn(), park::NOTICE, &format!("goods-failed:{subject}"), &payload).await?;
                Ok(())
            }
            State::Delivered => Ok(dead_letters::resolve_in(open.conn(), KIND, &subject).await?),
            State::Absent
            | State::Owed
            | State::Submitting { .. }
            | State::Accepted { .. }
            | State::RetryWait { .. }
            | State::Cancelled => Ok(()),
        }
    }
}

fn last_failure(events: &[Event]) -> Option<(i32, FailureClass, &str)> {
    events.iter().rev().find_map(|event| match event {
        Event::AttemptFailed {
            attempt, class, code, ..
        } => Some((*attempt, *class, code.as_str())),
        Event::Owed { .. }
        | Event::SubmissionStarted { .. }
        | Event::Accepted { .. }
        | Event::Delivered { .. }
        | Event::Parked { .. }
        | Event::Resolved { .. }
        | Event::Failed { .. }
        | Event::Cancelled { .. }
        | Event::RefundOwed { .. } => None,
    })
}

/// The row as the stream now has it. No due time: it has ended, or a person has to act.
fn change<'a>(delivery: &'a Delivery, failed: Option<(i32, FailureClass, &'a str)>, now: Timestamp) -> Change<'a> {
    let poll = Duration::from_secs(POLL_SECONDS.unsigned_abs());
    let (status, due_in, reference) = match &delivery.state {
        State::Absent | State::Owed => ("pending", Some(Duration::ZERO), None),
        State::RetryWait { until } => ("pending", Some((*until - now).to_std().unwrap_or_default()), None),
        State::Submitting { deadline, .. } => ("submitted", Some((*deadline - now).to_std().unwrap_or_default()), None),
        State::Accepted { reference, .. } => ("submitted", Some(poll), Some(reference.as_str())),
        State::NeedsReview { .. } => ("needs_review", None, None),
        State::Delivered => ("delivered", None, None),
        State::Failed { .. } => ("failed", None, None),
        State::Cancelled => ("cancelled", None, None),
    };
    let parked = match &delivery.state {
        State::NeedsReview { code } | State::Failed { code } => Some(code.as_str()),
        _ => None,
    };
    Change {
        status,
        attempt_count: delivery.attempts,
        due_in,
        failure_class: failed.map(|(_, class, _)| class_name(class)),
        code: failed.map(|(_, _, code)| code).or(parked),
        reference,
    }
}

pub(crate) const fn class_name(class: FailureClass) -> &'static str {
    match class {
        FailureClass::Retryable => "retryable",
        FailureClass::ProviderBalance => "provider_balance",
        FailureClass::ProviderUnavailable => "provider_unavailable",
        FailureClass::Permanent => "permanent",
        FailureClass::RecipientInvalid => "recipient_invalid",
        FailureClass::Ambiguous => "ambiguous",
    }
}
