//! The provider `fragment`: an HTTP gateway that the operator runs, which owns the Fragment session and the wallet.
//!
//! It has no idempotency, no reference, no polling and no balance. It settles on chain before it answers, so a call may take 90 s.

mod http;
mod options;
mod outcome;
mod price;
mod product;
mod tls;

use std::{fmt, time::Duration};

use async_trait::async_trait;
use domain::{
    delivery::{FailureClass, Submission},
    goods::Kind,
    money::Currency,
};
use ports::goods::{AdapterError, GoodsProvider, SubmitRequest};

use self::http::Gateway;
pub use self::{http::SetupError, options::FragmentOptions};

const DEFAULT_CURRENCY: &str = "RUB";

/// The gateway as a provider of goods.
pub struct Fragment {
    gateway: Gateway,
    currency: Currency,
}

impl Fragment {
    /// The slug in the catalog.
    pub const SLUG: &'static str = "fragment";

    /// Makes the provider, which waits 90 s for an answer. Sends nothing.
    ///
    /// # Errors
    /// [`SetupError`] when the token must not be sent to that address, or TLS cannot be set up.
    pub fn new(options: FragmentOptions) -> Result<Self, SetupError> {
        Self::with_timeout(options, http::TIMEOUT)
    }

    /// As [`Self::new`], with another patience.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn with_timeout(options: FragmentOptions, timeout: Duration) -> Result<Self, SetupError> {
        let currency = options
            .currency
            .map_or_else(|| DEFAULT_CURRENCY.parse(), Ok)
            .map_err(|_| SetupError::Address)?;
        Ok(Self {
            gateway: Gateway::new(options, timeout)?,
            currency,
        })
    }
}

impl fmt::Debug for Fragment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fragment")
            .field("gateway", &self.gateway)
            .field("currency", &self.currency)
            .finish()
    }
}

#[async_trait]
impl GoodsProvider for Fragment {
    fn slug(&self) -> &str {
        Self::SLUG
    }

    fn is_idempotent(&self) -> bool {
        false
    }

    async fn submit(&self, request: &SubmitRequest) -> Result<Submission, AdapterError> {
        let purchase = match product::purchase(request) {
            Ok(purchase) => purchase,
            Err(refusal) => return Ok(refusal),
        };
        Ok(outcome::of(&self.gateway.send(&purchase).await))
    }

    async fn poll(&self, _reference: &str) -> Result<Option<Submission>, AdapterError> {
        Ok(Some(outcome::failed(FailureClass::Ambiguous, "poll_unsupported")))
    }

    async fn unit_cost_minor(&self, kind: Kind, currency: Currency) -> Result<Option<i64>, AdapterError> {
        match kind {
            Kind::TelegramStars { quantity } if currency == self.currency => {
                let answer = self.gateway.star_value().await;
                price::cost_minor(&answer, quantity, currency).map(Some)
            }
            Kind::TelegramStars { .. } | Kind::TelegramPremium { .. } => Ok(None),
        }
    }
}
