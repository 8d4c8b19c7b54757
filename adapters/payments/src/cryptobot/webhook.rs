//! Webhooks: authentic or refused, then read.
//!
//! The signature covers the raw bytes; nothing is parsed before it holds. The key of an event is `<update_type>:<invoice_id>`, without
//! the `update_id`: a repeated notice of one payment is one event whatever number it carries, which is what the provider tells its users
//! to rely on. Its age (`request_date`) is not judged: the provider repeats for three days, and a replay repeats the key.

use ports::payments::{Header, WebhookError, WebhookEvent};
use secrets::digest;

use super::{
    invoice::{self, NotOurs},
    wire::{Invoice, Update},
};

const SIGNATURE: &str = "crypto-pay-api-signature";
const PAID: &str = "invoice_paid";

pub(super) fn verify(key: &[u8; 32], headers: &[Header<'_>], body: &[u8]) -> Result<WebhookEvent, WebhookError> {
    let signature = signature(headers).ok_or(WebhookError::InvalidSignature)?;
    if !secrets::verify_hmac_sha256(key, body, &signature) {
        return Err(WebhookError::InvalidSignature);
    }
    read(body)
}

/// Exactly one header of exactly 64 lower-case hex digits. Upper case is refused deliberately (the provider sends lower case), and so is a
/// second signature: whoever adds one does not decide which of them counts.
fn signature(headers: &[Header<'_>]) -> Option<[u8; 32]> {
    let mut values = headers
        .iter()
        .filter(|(name, _)| *name == SIGNATURE)
        .map(|(_, value)| *value);
    let only = values.next()?;
    if values.next().is_some() {
        None
    } else {
        digest::from_hex::<32>(only)
    }
}

fn read(body: &[u8]) -> Result<WebhookEvent, WebhookError> {
    let update: Update = serde_json::from_slice(body).map_err(|_| WebhookError::Malformed)?;
    if update.update_type != PAID {
        return Ok(WebhookEvent {
            event_key: other_key(body),
            payment: None,
        });
    }
    let payload = update.payload.ok_or(WebhookError::Malformed)?;
    let paid: Invoice = serde_json::from_value(payload).map_err(|_| WebhookError::Malformed)?;
    let event_key = format!("{PAID}:{}", paid.id);
    match invoice::observed(&paid) {
        Ok(payment) => Ok(WebhookEvent {
            event_key,
            payment: Some(payment),
        }),
        Err(NotOurs::OtherPricing) => Ok(WebhookEvent {
            event_key,
            payment: None,
        }),
        Err(NotOurs::Amount) => Err(WebhookError::Malformed),
    }
}

/// A kind of update that is not known yet: kept apart by its bytes, with nothing of its content in the key.
fn other_key(body: &[u8]) -> String {
    format!("other:{}", digest::hex(&secrets::sha256(body)))
}
