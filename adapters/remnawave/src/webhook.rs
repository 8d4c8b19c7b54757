//! Webhooks of the panel: hints that something changed there, never more. The panel gives up after 15 seconds, so they can be
//! missed, and our own calls echo back: a hint may cause reading, never writing.

use chrono::TimeDelta;
use domain::time::Timestamp;
use secrets::{Secret, digest};
use serde::Deserialize;

/// The header that carries the signature.
pub const SIGNATURE_HEADER: &str = "x-remnawave-signature";

/// How far the signed time may be from ours, either way.
pub const TOLERANCE: TimeDelta = TimeDelta::minutes(5);

/// Why a webhook is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WebhookError {
    /// Missing, doubled, malformed or wrong signature.
    #[error("the signature is not valid")]
    InvalidSignature,
    /// Authentic, but not of the panel's form.
    #[error("the body is not of the panel's form")]
    Malformed,
    /// Authentic, but of another time: a replay, or a clock that is wrong.
    #[error("the webhook is not of this time")]
    Stale,
}

impl WebhookError {
    /// Stable code.
    pub const fn code(self) -> &'static str {
        match self {
            Self::InvalidSignature => "webhook_signature_invalid",
            Self::Malformed => "webhook_malformed",
            Self::Stale => "webhook_stale",
        }
    }
}

/// What an authentic webhook says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hint {
    /// SHA-256 of the body in hex: the panel sends no id, and repeats byte for byte.
    pub key: String,
    /// As `user.modified`.
    pub event: String,
    pub timestamp: Timestamp,
    /// The user that it is about, if any.
    pub user_id: Option<i64>,
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
        "user" => Some(&read.data),
        "user_hwid_devices" => read.data.get("user"),
        _ => None,
    };
    Ok(Hint {
        key: digest::hex(&digest::sha256(body)),
        event: read.event,
        timestamp: read.timestamp,
        user_id: user.and_then(|user| user.get("id")).and_then(serde_json::Value::as_i64),
    })
}
