//! Asking a provider what became of payments: one at an operator's wish, the due ones in a pass.

use ports::payments::{Observed, PaymentProvider, Status};
use store::payments::{self, IntentAnswer, IntentRow};
use uuid::Uuid;

use super::{complete_intent::create_request, observe_payment::Observation, start_payment::CLAIM};
use crate::{Caller, Error, PaymentView, Refusal, Service};

/// Code of a payment that could not be asked after.
const RECONCILIATION_FAILED: &str = "reconciliation_failed";

/// What a pass did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReconcileReport {
    /// Providers that were asked about a payment.
    pub polled: u32,
    /// Payments that turned out to be paid.
    pub paid: u32,
    /// Questions without an answer; they are asked again, later each time.
    pub failed: u32,
}

impl Service {
    /// Asks the provider of one payment, and records what it says.
    ///
    /// # Errors
    /// [`Error::Refused`] (`payment_not_found`; `reconciliation_failed` when the provider cannot be asked or gives no answer), or a fault
    /// of the store.
    pub async fn reconcile_payment(&self, caller: &Caller, intent_id: Uuid) -> Result<PaymentView, Error> {
        let row = payments::intent(self.store.pool(), intent_id)
            .await?
            .ok_or_else(payment_not_found)?;
        if let Err(error) = self.reconcile_intent(caller, &row).await {
            tracing::warn!(%intent_id, code = error.code(), "the payment was not reconciled");
            return match error {
                Error::Provider(_) => Err(failed("the provider gave no answer").into()),
                Error::Refused(refusal) if refusal.code != RECONCILIATION_FAILED => {
                    Err(failed("the provider tells of a payment that cannot be").into())
                }
                error => Err(error),
            };
        }
        let row = payments::intent(self.store.pool(), intent_id)
            .await?
            .ok_or_else(payment_not_found)?;
        Ok(row.into())
    }

    /// Asks about payments that are due, at most `limit`. One that fails does not stop the others, and comes later next time.
    ///
    /// # Errors
    /// Only when the due ones cannot be listed.
    pub async fn reconcile_due_payments(&self, caller: &Caller, limit: i64) -> Result<ReconcileReport, Error> {
        let pollable: Vec<String> = self
            .providers
            .iter()
            .filter(|provider| provider.capabilities().polling)
            .map(|provider| provider.slug().to_owned())
            .collect();
        let mut report = ReconcileReport::default();
        for row in payments::claim_polls(self.store.pool(), &pollable, limit).await? {
            report.polled = report.polled.saturating_add(1);
            match self.reconcile_intent(caller, &row).await {
                Ok(true) => report.paid = report.paid.saturating_add(1),
                Ok(false) => {}
                Err(error) => {
                    report.failed = report.failed.saturating_add(1);
                    tracing::info!(intent_id = %row.intent_id, code = error.code(), "the payment was not reconciled");
                    if let Err(error) = payments::record_poll_failure(self.store.pool(), row.intent_id).await {
                        tracing::warn!(code = error.code(), "a failed poll was not counted");
                    }
                }
            }
        }
        Ok(report)
    }

    /// True when the payment turned out to be paid.
    async fn reconcile_intent(&self, caller: &Caller, row: &IntentRow) -> Result<bool, Error> {
        let provider = self
            .providers
            .get(&row.provider)
            .filter(|provider| provider.capabilities().polling)
            .ok_or_else(|| failed("the provider cannot be asked"))?;
        let Some(reference) = row.provider_reference.as_deref() else {
            return self.recover_intent(caller, &**provider, row).await;
        };
        if let Some(observed) = provider.poll(reference).await? {
            return self.apply_poll(caller, row, &observed).await;
        }
        // It was there when it was created: gone means withdrawn.
        self.record_status(row, Status::Cancelled).await?;
        Ok(false)
    }

    /// Keeps what a poll of an intent found; true when it is paid.
    pub(crate) async fn apply_poll(
        &self,
        caller: &Caller,
        row: &IntentRow,
        observed: &Observed,
    ) -> Result<bool, Error> {
        if observed.status == Status::Succeeded {
            let seen = Observation::of_reference(&observed.reference, observed.amount, self.clock.now());
            self.observe_payment(caller, row, &seen).await?;
            // Seen, whatever it meant for the order: there is nothing more to ask the provider.
            self.record_status(row, Status::Succeeded).await?;
            return Ok(true);
        }
        self.record_status(row, observed.status).await?;
        Ok(false)
    }

    /// Looks for what a creation without an answer made. Nothing is created here: the customer who asked for it is long gone.
    async fn recover_intent(
        &self,
        caller: &Caller,
        provider: &dyn PaymentProvider,
        row: &IntentRow,
    ) -> Result<bool, Error> {
        let mut conn = self.store.pool().acquire().await.map_err(store::StoreError::from)?;
        let ours = payments::take_call_in(&mut conn, row.intent_id, CLAIM).await?;
        drop(conn);
        if !ours {
            return Ok(false);
        }
        let found = provider.recover(&create_request(row, provider, None)?).await;
        payments::release_call(self.store.pool(), row.intent_id).await?;
        if let Some(created) = found? {
            let paid = created.status == Status::Succeeded;
            self.adopt(caller, row.clone(), created).await?;
            return Ok(paid);
        }
        let ends = domain::time::plus_seconds(row.created_at, provider.window_seconds());
        if ends.is_some_and(|ends| ends <= self.clock.now()) {
            self.record_status(row, Status::Expired).await?;
        }
        Ok(false)
    }

    pub(crate) async fn record_status(&self, row: &IntentRow, status: Status) -> Result<(), Error> {
        let answer = IntentAnswer {
            status: status.as_str(),
            reference: None,
            checkout_url: None,
        };
        payments::record_answer(self.store.pool(), row.intent_id, answer).await?;
        Ok(())
    }
}

pub(crate) const fn payment_not_found() -> Refusal {
    Refusal::new(404, "payment_not_found", "the payment does not exist")
}

const fn failed(detail: &'static str) -> Refusal {
    Refusal::new(422, RECONCILIATION_FAILED, detail)
}
