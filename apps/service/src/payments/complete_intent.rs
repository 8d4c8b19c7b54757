//! The provider's side of an intent: created once, found again when the answer to its creation was lost.

use domain::{ids::IntentId, money::Money};
use ports::payments::{CreateRequest, Created, PaymentProvider, ProviderError, Status};
use store::payments::{self, IntentAnswer, IntentRow};

use super::observe_payment::Observation;
use crate::{Caller, Error, PaymentView, Refusal, Service};

impl Service {
    /// Brings an intent to the state in which a customer can pay it. The caller holds the intent's call, or the intent has its
    /// reference. `resumed` says that an earlier call may have created the payment.
    pub(super) async fn complete_intent(
        &self,
        caller: &Caller,
        provider: &dyn PaymentProvider,
        row: IntentRow,
        description: Option<&str>,
        resumed: bool,
    ) -> Result<PaymentView, Error> {
        if row.provider_reference.is_some() {
            return Ok(row.into());
        }
        let request = create_request(&row, provider, description)?;
        let found = if resumed {
            provider.recover(&request).await?
        } else {
            None
        };
        let created = match found {
            Some(created) => created,
            None => match provider.create(&request).await {
                Ok(created) => created,
                Err(ProviderError::Refused { code }) => {
                    self.record_refused(&row, &code).await?;
                    return Err(Refusal::new(422, "payment_rejected", "the payment provider refused").into());
                }
                Err(error) => return Err(error.into()),
            },
        };
        fail::fail_point!("payment.after_call", |_| Err(Error::InProgress));
        self.adopt(caller, row, created).await
    }

    /// Keeps what the provider made. One that is paid at once is settled by the same path as any other payment.
    pub(super) async fn adopt(&self, caller: &Caller, row: IntentRow, created: Created) -> Result<PaymentView, Error> {
        let paid = created.status == Status::Succeeded;
        let answer = IntentAnswer {
            status: if paid { Status::Processing } else { created.status }.as_str(),
            reference: Some(&created.reference),
            checkout_url: created.checkout_url.as_deref(),
        };
        payments::record_answer(self.store.pool(), row.intent_id, answer).await?;
        if paid {
            let seen = Observation::of_reference(&created.reference, amount_of(&row)?, self.clock.now());
            self.observe_payment(caller, &row, &seen).await?;
        }
        let row = payments::intent(self.store.pool(), row.intent_id).await?;
        row.map(PaymentView::from)
            .ok_or(Error::Inconsistent("a stored intent is missing"))
    }

    async fn record_refused(&self, row: &IntentRow, code: &str) -> Result<(), Error> {
        tracing::warn!(intent_id = %row.intent_id, provider = row.provider, code, "the payment provider refused");
        let answer = IntentAnswer {
            status: Status::Failed.as_str(),
            reference: None,
            checkout_url: None,
        };
        payments::record_answer(self.store.pool(), row.intent_id, answer).await?;
        Ok(())
    }
}

/// What the provider is asked for.
pub(super) fn create_request(
    row: &IntentRow,
    provider: &dyn PaymentProvider,
    description: Option<&str>,
) -> Result<CreateRequest, Error> {
    Ok(CreateRequest {
        order_id: row.order_id.into(),
        intent_id: IntentId::new(row.intent_id),
        amount: amount_of(row)?,
        description: description.map_or_else(|| format!("Order {}", row.order_id), ToOwned::to_owned),
        expires_in_seconds: provider.window_seconds(),
    })
}

/// What an intent asks for.
pub(super) fn amount_of(row: &IntentRow) -> Result<Money, Error> {
    let currency = row
        .currency
        .parse()
        .map_err(|_| Error::Inconsistent("an intent in an unknown currency"))?;
    Money::new(row.amount_minor, currency).map_err(|_| Error::Inconsistent("an intent with an amount out of range"))
}
