//! Webhooks of the panel: hints that something changed there, never more.

use std::fmt::Debug;

use domain::time::Timestamp;

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
    /// When the panel sent it, by its own clock.
    pub timestamp: Timestamp,
    /// The user that it is about, where what happened can make the user show something else.
    pub user_id: Option<i64>,
}

/// Tells authentic webhooks of the panel from others.
pub trait PanelWebhooks: Send + Sync + Debug {
    /// The header that carries the signature, in lower case.
    fn signature_header(&self) -> &'static str;

    /// Verifies the raw bytes in constant time, then reads them. `signatures` are all values of the header.
    ///
    /// # Errors
    /// See [`WebhookError`].
    fn receive(&self, signatures: &[&[u8]], body: &[u8], now: Timestamp) -> Result<Hint, WebhookError>;
}
