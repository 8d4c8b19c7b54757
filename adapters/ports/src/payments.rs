//! Payment providers.

use std::fmt::{self, Debug};

use async_trait::async_trait;
use domain::{
    ids::{IntentId, OrderId},
    money::{Currency, Money},
};

/// What a provider can do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Capabilities {
    /// It tells us when something happened: [`PaymentProvider::verify`] works.
    pub webhooks: bool,
    /// It can be asked: [`PaymentProvider::poll`] works.
    pub polling: bool,
}

/// Status of a payment at its provider, in our words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Can be paid.
    Pending,
    /// A person has to do something first.
    RequiresAction,
    /// Paid, not yet sure.
    Processing,
    /// Paid.
    Succeeded,
    /// Refused by the provider.
    Failed,
    /// Withdrawn.
    Cancelled,
    /// Its time ended unpaid.
    Expired,
}

impl Status {
    /// As stored in `payment_intents.status`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::RequiresAction => "requires_action",
            Self::Processing => "processing",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Expired => "expired",
        }
    }
}

/// Asks a provider for money.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreateRequest {
    /// Travels with the payment, so that it can be found again.
    pub order_id: OrderId,
    /// Our record of the request.
    pub intent_id: IntentId,
    /// What is to be paid.
    pub amount: Money,
    /// What the customer reads; the adapter cuts it to what the provider takes.
    pub description: String,
    /// How long the request may be paid, in seconds.
    pub expires_in_seconds: i64,
}

/// What a provider answered. Printed without its link.
#[derive(Clone, PartialEq, Eq)]
pub struct Created {
    /// The provider's id of the payment.
    pub reference: String,
    /// How far it is; [`Status::Succeeded`] when it was paid meanwhile.
    pub status: Status,
    /// Where the customer pays, if it is a page. A bearer secret: never logged.
    pub checkout_url: Option<String>,
}

/// What a provider says of one payment. Printed without its link.
#[derive(Clone, PartialEq, Eq)]
pub struct Observed {
    /// The provider's id of the payment.
    pub reference: String,
    /// Our order id, if the provider carries it.
    pub merchant_reference: Option<String>,
    /// How far it is.
    pub status: Status,
    /// Amount of the payment, in its own currency.
    pub amount: Money,
    /// As in [`Created`].
    pub checkout_url: Option<String>,
}

impl Debug for Created {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Created")
            .field("reference", &self.reference)
            .field("status", &self.status)
            .finish_non_exhaustive()
    }
}

impl Debug for Observed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Observed")
            .field("reference", &self.reference)
            .field("merchant_reference", &self.merchant_reference)
            .field("status", &self.status)
            .field("amount", &self.amount)
            .finish_non_exhaustive()
    }
}

/// A verified webhook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebhookEvent {
    /// Unique per provider: repeating the call repeats the key.
    pub event_key: String,
    /// Absent when the call is authentic but says nothing that concerns a payment.
    pub payment: Option<Observed>,
}

/// Why a webhook is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WebhookError {
    /// Missing, malformed or wrong signature.
    #[error("the signature is not valid")]
    InvalidSignature,
    /// Authentic, but not of the provider's form.
    #[error("the body is not of the provider's form")]
    Malformed,
    /// The provider sends no webhooks.
    #[error("the provider sends no webhooks")]
    Unsupported,
}

/// A failed call to a provider. Holds no body, no URL and no secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProviderError {
    /// No answer, a 5xx, a 429, or refused credentials: trying later is right, and the request may have been carried out.
    #[error("the payment provider did not answer ({code})")]
    Unavailable {
        /// Stable: `<provider>_timeout`, `<provider>_unreachable`, `<provider>_http_<status>`.
        code: String,
    },
    /// The provider refused.
    #[error("the payment provider refused ({code})")]
    Refused {
        /// Stable: `<provider>_<its own name of the reason>` or `<provider>_http_<status>`.
        code: String,
    },
    /// An answer that is not of the provider's form.
    #[error("the payment provider answered with something else ({code})")]
    Malformed {
        /// Stable: `<provider>_malformed`, `<provider>_oversized`, …
        code: String,
    },
    /// Not part of what the provider can do.
    #[error("the payment provider cannot do this")]
    Unsupported,
}

impl ProviderError {
    /// Stable code, fit for a stored `last_error_code`.
    pub fn code(&self) -> &str {
        match self {
            Self::Unavailable { code } | Self::Refused { code } | Self::Malformed { code } => code,
            Self::Unsupported => "provider_unsupported",
        }
    }

    /// Whether the request may have been carried out although it failed: recover before asking again.
    pub const fn may_have_happened(&self) -> bool {
        matches!(self, Self::Unavailable { .. } | Self::Malformed { .. })
    }
}

/// One header of a webhook call, its name in lower case.
pub type Header<'a> = (&'a str, &'a [u8]);

/// One provider.
#[async_trait]
pub trait PaymentProvider: Send + Sync + Debug {
    /// Stable slug: `manual`, `cryptobot`.
    fn slug(&self) -> &'static str;
    /// What may be called.
    fn capabilities(&self) -> Capabilities;
    /// Whether it takes payments in that currency.
    fn supports(&self, currency: Currency) -> bool;
    /// Seconds that an order paid through this provider may stay open.
    fn window_seconds(&self) -> i64;
    /// Asks for money. Providers without idempotency may be asked twice: call [`Self::recover`] first when an earlier call has no known answer.
    async fn create(&self, request: &CreateRequest) -> Result<Created, ProviderError>;
    /// Finds what an earlier [`Self::create`] with a lost answer made.
    async fn recover(&self, request: &CreateRequest) -> Result<Option<Created>, ProviderError>;
    /// Asks for the state of one payment; `None` when the provider does not know the reference.
    async fn poll(&self, reference: &str) -> Result<Option<Observed>, ProviderError>;
    /// Withdraws an unpaid request. Unknown or withdrawn already is success.
    async fn cancel(&self, reference: &str) -> Result<(), ProviderError>;
    /// Checks a webhook over its raw bytes, in constant time.
    fn verify(&self, headers: &[Header<'_>], body: &[u8]) -> Result<WebhookEvent, WebhookError>;
}
