//! Taking a webhook of the panel in: verify the raw bytes, store, and only then act and answer.

use ports::panel_webhooks::WebhookError;
use serde_json::json;
use store::{
    panel_hints::{self, NewHint, PANEL},
    webhooks::{self, Intake},
};

use super::HintOutcome;
use crate::{
    Caller, Error, Refusal, Service,
    webhooks::{A_MINUTE, hex},
};

/// A webhook as it came in.
#[derive(Clone, Copy, Debug)]
pub struct HintCall<'a> {
    /// Names in lower case.
    pub headers: &'a [(&'a str, &'a [u8])],
    /// Untouched.
    pub body: &'a [u8],
}

impl Service {
    /// Takes a webhook of the panel in. Once it is stored the answer is good news for the panel, whatever fails afterwards.
    ///
    /// # Errors
    /// [`Error::Refused`]: `not_found` where no secret is set, `webhook_rejected` for a signature that is not valid; a fault of the store
    /// when it could not be stored, so that the panel comes again.
    pub async fn receive_panel_hint(&self, caller: &Caller, call: HintCall<'_>) -> Result<HintOutcome, Error> {
        let webhooks = self
            .panel_webhooks
            .as_ref()
            .ok_or_else(|| Refusal::new(404, "not_found", "there is nothing at this address"))?;
        let now = self.clock.now();
        let signatures: Vec<&[u8]> = call
            .headers
            .iter()
            .filter(|(name, _)| *name == webhooks.signature_header())
            .map(|(_, value)| *value)
            .collect();
        let digest = webhooks::body_digest(call.body);
        let key = hex(&digest);
        let new = NewHint {
            event_key: &key,
            body_sha256: &digest,
            hint: None,
            code: None,
            received_at: now,
        };
        let outcome = match webhooks.receive(&signatures, call.body, now) {
            Ok(hint) => {
                let told = json!({ "event": hint.event, "remoteUserId": hint.user_id, "sentAt": hint.timestamp });
                let code = hint.user_id.is_none().then_some("no_user");
                let hint = Some(&told);
                let stored = panel_hints::record(self.store.pool(), NewHint { hint, code, ..new }).await?;
                fail::fail_point!("panel_hint.after_record", |_| Err(Error::InProgress));
                self.act(caller, &stored).await
            }
            Err(WebhookError::InvalidSignature) => {
                self.record_panel_forgery(&digest).await;
                return Err(Refusal::new(400, "webhook_rejected", "the webhook is not accepted").into());
            }
            Err(refused @ (WebhookError::Stale | WebhookError::Malformed)) => {
                tracing::warn!(code = refused.code(), "an authentic webhook of the panel is of no use");
                let code = Some(refused.code());
                let stored = panel_hints::record(self.store.pool(), NewHint { code, ..new }).await?;
                match refused {
                    _ if !stored.first => HintOutcome::Duplicate,
                    WebhookError::Stale => HintOutcome::Stale,
                    _ => HintOutcome::Malformed,
                }
            }
        };
        count(outcome.as_str());
        Ok(outcome)
    }

    async fn act(&self, caller: &Caller, stored: &Intake) -> HintOutcome {
        match stored.status.as_str() {
            "received" | "failed" => {}
            "ignored" if stored.first => return HintOutcome::Ignored,
            _ => return HintOutcome::Duplicate,
        }
        self.process_panel_hint(caller, stored.id)
            .await
            .unwrap_or_else(|error| {
                tracing::warn!(
                    id = stored.id,
                    code = error.code(),
                    "a hint of the panel is left to the pass"
                );
                HintOutcome::Deferred
            })
    }

    /// Anybody can send one with a bad signature: it is counted, and leaves at most its digest.
    async fn record_panel_forgery(&self, digest: &[u8; 32]) {
        count("signature_invalid");
        let at = self.clock.now();
        if !self.forgeries.admit(PANEL, at) {
            return;
        }
        if let Err(error) = webhooks::record_forgery(self.store.pool(), PANEL, digest, at, A_MINUTE).await {
            tracing::warn!(code = error.code(), "a forged webhook of the panel left no digest");
        }
    }
}

fn count(outcome: &'static str) {
    metrics::counter!("omniflow_panel_webhooks_total", "outcome" => outcome).increment(1);
}
