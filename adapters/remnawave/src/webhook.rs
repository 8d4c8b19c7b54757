//! Webhooks of the panel: hints that something changed there, never more. The panel gives up after 15 seconds, so they can be
//! missed, and our own calls echo back: a hint may cause reading, never writing.

use chrono::TimeDelta;
use domain::time::Timestamp;
use ports::panel_webhooks::PanelWebhooks;
pub use ports::panel_webhooks::{Hint, WebhookError};
use secrets::{Secret, digest};
use serde::Deserialize;

/// The header that carries the signature.
pub const SIGNATURE_HEADER: &str = "x-remnawave-signature";

/// How far the signed time may be from ours, either way.
pub const TOLERANCE: TimeDelta = TimeDelta::minutes(5);

/// Events that change nothing of what is compared: the panel sends them by the thousand, and none is worth a look.
const QUIET: [&str; 4] = [
    "user.first_connected",
    "user.bandwidth_usage_threshold_reached",
    "user.not_connected",
    "user.expiration",
];

/// Holds the panel's webhooks to the secret that it signs them with.
pub struct Webhooks(Secret);

impl Webhooks {
    /// An empty secret accepts nobody.
    pub const fn new(secret: Secret) -> Self {
        Self(secret)
    }
}

impl std::fmt::Debug for Webhooks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Webhooks").finish_non_exhaustive()
    }
}

impl PanelWebhooks for Webhooks {
    fn signature_header(&self) -> &'static str {
        SIGNATURE_HEADER
    }

    fn receive(&self, signatures: &[&[u8]], body: &[u8], now: Timestamp) -> Result<Hint, WebhookError> {
        receive(&self.0, signatures, body, now)
    }
}

#[derive(Deserialize)]
struct Body {
    scope: String,
    event: String,
    timestamp: Timestamp,
    #[serde(default)]
    data: serde_json::Value,
}

/// Checks the signature over the raw body, in constant time. `signatures` are all values of [`SIGNATURE_HEADER`]: the panel sends
/// one, in lower-case hex; two are refused, also when one of them is right.
///
/// # Errors
/// [`WebhookError::InvalidSignature`].
pub fn verify(secret: &Secret, signatures: &[&[u8]], body: &[u8]) -> Result<(), WebhookError> {
    let [signature] = signatures else {
        return Err(WebhookError::InvalidSignature);
    };
    let tag: [u8; 32] = digest::from_hex(signature).ok_or(WebhookError::InvalidSignature)?;
    let key = secret.expose().as_bytes();
    // An empty secret would make everybody a sender.
    if !key.is_empty() && digest::verify_hmac_sha256(key, body, &tag) {
        Ok(())
    } else {
        Err(WebhookError::InvalidSignature)
    }
}

/// Verifies, then reads. The time is taken from inside the signed body, because the header's is not signed.
///
/// # Errors
/// See [`WebhookError`].
pub fn receive(secret: &Secret, signatures: &[&[u8]], body: &[u8], now: Timestamp) -> Result<Hint, WebhookError> {
    verify(secret, signatures, body)?;
    let read: Body = serde_json::from_slice(body).map_err(|_| WebhookError::Malformed)?;
    if now.signed_duration_since(read.timestamp).abs() > TOLERANCE {
        return Err(WebhookError::Stale);
    }
    let user = match read.scope.as_str() {
        "user" if !QUIET.contains(&read.event.as_str()) => Some(&read.data),
        _ => None,
    };
    Ok(Hint {
        key: digest::hex(&digest::sha256(body)),
        event: read.event,
        timestamp: read.timestamp,
        user_id: user.and_then(|user| user.get("id")).and_then(serde_json::Value::as_i64),
    })
}
