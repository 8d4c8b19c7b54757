//! Taking a call in: verify the raw bytes, store, and only then act and answer.

use std::fmt::Write as _;

use ports::payments::{Header, WebhookError};
use serde_json::Value;
use store::{
    StoreError,
    webhooks::{self, NewWebhook},
};

use super::{forgeries::A_MINUTE, process::Processed, told::Told};
use crate::{Caller, Error, Refusal, Service};

/// A call as it came in.
#[derive(Clone, Copy, Debug)]
pub struct WebhookCall<'a> {
    /// Slug of the provider, out of the path.
    pub provider: &'a str,
    /// Names in lower case.
    pub headers: &'a [Header<'a>],
    /// Untouched.
    pub body: &'a [u8],
}

/// What became of a call that was stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Received {
    /// The stored call.
    pub id: i64,
    /// It was stored before, too.
    pub repeated: bool,
    /// `None`: stored, and left to the pass because something of ours failed just now.
    pub processed: Option<Processed>,
}

impl Service {
    /// Takes a call in. Once it is stored the answer is good news for the provider, whatever the call was about and whatever fails
    /// afterwards: what is stored is processed, now or by [`Self::process_due_webhooks`].
    ///
    /// # Errors
    /// [`Error::Refused`] (`webhook_rejected`) for an unknown provider, one without webhooks, or a signature that is not valid; a fault
    /// of the store when the call could not be stored, so that the provider comes again.
    pub async fn receive_webhook(&self, caller: &Caller, call: WebhookCall<'_>) -> Result<Received, Error> {
        let provider = self
            .providers
            .get(call.provider)
            .filter(|provider| provider.capabilities().webhooks)
            .ok_or_else(rejected)?;
        let digest = webhooks::body_digest(call.body);
        let (event_key, payment, fault) = match provider.verify(call.headers, call.body) {
            Ok(event) => (event.event_key, event.payment.as_ref().map(Told::of), None),
            Err(WebhookError::Malformed) => (format!("malformed:{}", hex(&digest)), None, Some("malformed")),
            Err(WebhookError::InvalidSignature | WebhookError::Unsupported) => {
                self.record_forgery(call.provider, &digest).await;
                return Err(rejected().into());
            }
        };
        let payment = payment
            .map(serde_json::to_value)
            .transpose()
            .map_err(|reason| StoreError::Corrupt {
                place: "a webhook's payment".to_owned(),
                reason: Box::new(reason),
            })?;
        let stored = self.record(call, &event_key, &digest, payment.as_ref()).await?;
        fail::fail_point!("webhook.after_record", |_| Err(Error::InProgress));
        if let (Some(code), "received") = (fault, stored.status.as_str()) {
            tracing::warn!(
                provider = call.provider,
                id = stored.id,
                "an authentic webhook cannot be read"
            );
            webhooks::finish(self.store.pool(), stored.id, "failed", Some(code)).await?;
        }
        let processed = match self.process_webhook(caller, stored.id).await {
            Ok(processed) => Some(processed),
            Err(error) => {
                tracing::warn!(
                    provider = call.provider,
                    id = stored.id,
                    code = error.code(),
                    "a webhook is left to the pass"
                );
                None
            }
        };
        let outcome = processed.as_ref().map_or("deferred", |processed| processed.outcome());
        count(call.provider, outcome);
        Ok(Received {
            id: stored.id,
            repeated: !stored.first,
            processed,
        })
    }

    async fn record(
        &self,
        call: WebhookCall<'_>,
        event_key: &str,
        digest: &[u8; 32],
        payment: Option<&Value>,
    ) -> Result<webhooks::Intake, Error> {
        let new = NewWebhook {
            provider: call.provider,
            event_key,
            signature_valid: true,
            body_sha256: digest,
            raw_body: Some(call.body),
            payment,
            received_at: self.clock.now(),
        };
        Ok(webhooks::record(self.store.pool(), new).await?)
    }

    /// Anybody can send a call with a bad signature: it is counted, and leaves at most its digest.
    async fn record_forgery(&self, provider: &str, digest: &[u8; 32]) {
        count(provider, "signature_invalid");
        let at = self.clock.now();
        if !self.forgeries.admit(provider, at) {
            return;
        }
        // Whoever sent it learns nothing of our troubles, and has no right to come again for them.
        if let Err(error) = webhooks::record_forgery(self.store.pool(), provider, digest, at, A_MINUTE).await {
            tracing::warn!(provider, code = error.code(), "a forged webhook left no digest");
        }
    }
}

fn count(provider: &str, outcome: &'static str) {
    metrics::counter!("omniflow_provider_webhooks_total", "provider" => provider.to_owned(), "outcome" => outcome)
        .increment(1);
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(64), |mut text, byte| {
        write!(text, "{byte:02x}").ok();
        text
    })
}

const fn rejected() -> Refusal {
    Refusal::new(400, "webhook_rejected", "the webhook is not accepted")
}
