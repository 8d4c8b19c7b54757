//! Processing a stored call. Safe to do twice, or at the same time: what it settles is keyed by the payment.

use domain::order::Classification;
use ports::payments::{Observed, Status};
use store::{
    payments::{self, IntentAnswer, IntentRow},
    webhooks::{self, WebhookRow},
};
use uuid::Uuid;

use super::told::Told;
use crate::{
    Caller, Error, Service, notices,
    payments::observe_payment::{Observation, classification_name},
};

/// What a call meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Processed {
    /// Money, and how it relates to its order.
    Payment(Classification),
    /// It was processed before.
    Duplicate,
    /// Nothing to do: no payment, or one that is not paid.
    Ignored,
    /// It concerns a payment that nobody knows yet; operators were told once, and it is tried again.
    UnknownPayment,
    /// It cannot be read.
    Unreadable,
    /// It tells of money that cannot be, as of no amount; operators were told once.
    Rejected,
}

impl Processed {
    /// The wire's word.
    pub const fn outcome(&self) -> &'static str {
        match self {
            Self::Payment(classification) => classification_name(*classification),
            Self::Duplicate => "duplicate",
            Self::Ignored => "ignored",
            Self::UnknownPayment => "payment_not_found",
            Self::Unreadable => "malformed",
            Self::Rejected => "rejected",
        }
    }
}

/// What a pass did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProcessReport {
    /// Calls that reached an end.
    pub processed: u32,
    /// Calls that will be tried again.
    pub failed: u32,
}

impl Service {
    /// Processes one stored call.
    ///
    /// # Errors
    /// A provider that must be asked and does not answer, or a fault of the store. The call stays due.
    pub async fn process_webhook(&self, caller: &Caller, id: i64) -> Result<Processed, Error> {
        let Some(row) = webhooks::webhook(self.store.pool(), id).await? else {
            return Ok(Processed::Ignored);
        };
        if matches!(row.status.as_str(), "processed" | "ignored") {
            return Ok(Processed::Duplicate);
        }
        let caller = caller.clone().caused_by(format!("webhook:{id}"));
        let outcome = self.process_row(&caller, &row).await;
        let (status, code) = match &outcome {
            Ok(Processed::Payment(_) | Processed::Duplicate) => ("processed", None),
            Ok(Processed::Ignored) => ("ignored", None),
            Ok(Processed::UnknownPayment) => ("failed", Some("payment_not_found")),
            Ok(Processed::Unreadable) => ("failed", Some("malformed")),
            Ok(Processed::Rejected) => ("failed", Some("payment_rejected")),
            Err(error) => ("failed", Some(error.code())),
        };
        webhooks::finish(self.store.pool(), id, status, code).await?;
        outcome
    }

    /// Processes calls that are due, at most `limit`. One that fails does not stop the others, and comes later next time.
    ///
    /// # Errors
    /// Only when the due ones cannot be listed.
    pub async fn process_due_webhooks(&self, caller: &Caller, limit: i64) -> Result<ProcessReport, Error> {
        let mut report = ProcessReport::default();
        for id in webhooks::claim_due(self.store.pool(), limit).await? {
            match self.process_webhook(caller, id).await {
                Ok(Processed::UnknownPayment | Processed::Unreadable | Processed::Rejected) => {
                    report.failed = report.failed.saturating_add(1);
                }
                Ok(_) => report.processed = report.processed.saturating_add(1),
                Err(error) => {
                    report.failed = report.failed.saturating_add(1);
                    tracing::info!(id, code = error.code(), "a webhook was not processed");
                }
            }
        }
        Ok(report)
    }

    async fn process_row(&self, caller: &Caller, row: &WebhookRow) -> Result<Processed, Error> {
        if row.code.as_deref() == Some("malformed") {
            return Ok(Processed::Unreadable);
        }
        let Some(payment) = row.payment.clone() else {
            return Ok(Processed::Ignored);
        };
        let Ok(told) = serde_json::from_value::<Told>(payment) else {
            return Ok(Processed::Unreadable);
        };
        let Some(status) = told.status() else {
            return Ok(Processed::Ignored);
        };
        let known = payments::intent_by_reference(self.store.pool(), &row.provider, &told.reference).await?;
        if status != Status::Succeeded {
            if let Some(intent) = known {
                self.record_status(&intent, status).await?;
            }
            return Ok(Processed::Ignored);
        }
        if let Some(intent) = known {
            let seen = Observation::of_reference(&told.reference, told.amount, row.received_at);
            return self.process_payment(caller, &intent, &seen).await;
        }
        self.process_unknown(caller, row, &told).await
    }

    /// The payment of a known intent.
    async fn process_payment(
        &self,
        caller: &Caller,
        intent: &IntentRow,
        seen: &Observation,
    ) -> Result<Processed, Error> {
        match self.observe_payment(caller, intent, seen).await {
            Ok(done) => Ok(Processed::Payment(done.value.classification)),
            Err(Error::Refused(refusal)) => {
                let notice = notices::rejected_payment(intent, seen.amount);
                if notice.insert(&self.store).await? {
                    tracing::warn!(intent_id = %intent.intent_id, code = &*refusal.code, "a payment that cannot be");
                }
                Ok(Processed::Rejected)
            }
            Err(error) => Err(error),
        }
    }

    /// A payment whose reference we never stored: our answer to its creation was lost, or it is not ours. The provider is asked, and
    /// only what it says is believed.
    async fn process_unknown(&self, caller: &Caller, row: &WebhookRow, told: &Told) -> Result<Processed, Error> {
        let Some(provider) = self.providers.get(&row.provider) else {
            return Ok(Processed::Unreadable);
        };
        let confirmed = provider
            .poll(&told.reference)
            .await?
            .filter(|observed| observed.status == Status::Succeeded);
        if let Some(observed) = confirmed
            && let Some(intent) = self.intent_of(&row.provider, &observed, told).await?
        {
            let answer = IntentAnswer {
                status: Status::Processing.as_str(),
                reference: Some(&observed.reference),
                checkout_url: None,
            };
            payments::record_answer(self.store.pool(), intent.intent_id, answer).await?;
            let seen = Observation::of_reference(&observed.reference, observed.amount, row.received_at);
            return self.process_payment(caller, &intent, &seen).await;
        }
        let notice = notices::unknown_payment(&row.provider, &told.reference);
        if notice.insert(&self.store).await? {
            tracing::warn!(
                provider = row.provider,
                reference = told.reference,
                "money arrived for an unknown payment"
            );
        }
        Ok(Processed::UnknownPayment)
    }

    /// The intent without a reference that this payment answers, by the order id that the provider carries for us.
    async fn intent_of(&self, provider: &str, observed: &Observed, told: &Told) -> Result<Option<IntentRow>, Error> {
        let carried = observed
            .merchant_reference
            .as_deref()
            .or(told.merchant_reference.as_deref());
        let Some(order_id) = carried.and_then(|text| text.parse::<Uuid>().ok()) else {
            return Ok(None);
        };
        Ok(payments::unanswered_intent(self.store.pool(), provider, order_id).await?)
    }
}
