//! Money that reaches the seller outside of any provider; an operator decides.

use async_trait::async_trait;
use domain::money::Currency;
use ports::payments::{
    Capabilities, CreateRequest, Created, Header, Observed, PaymentProvider, ProviderError, Status, WebhookError,
    WebhookEvent,
};

/// 72 hours: a transfer may take a weekend.
const WINDOW_SECONDS: i64 = 72 * 60 * 60;

/// The provider `manual`: any currency, nothing to call, a reference that is the order id.
#[derive(Clone, Copy, Debug, Default)]
pub struct Manual;

impl Manual {
    fn answer(request: &CreateRequest) -> Created {
        Created {
            reference: request.order_id.to_string(),
            status: Status::RequiresAction,
            checkout_url: None,
        }
    }
}

#[async_trait]
impl PaymentProvider for Manual {
    fn slug(&self) -> &'static str {
        "manual"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            webhooks: false,
            polling: false,
        }
    }

    fn supports(&self, _currency: Currency) -> bool {
        true
    }

    fn window_seconds(&self) -> i64 {
        WINDOW_SECONDS
    }

    async fn create(&self, request: &CreateRequest) -> Result<Created, ProviderError> {
        Ok(Self::answer(request))
    }

    async fn recover(&self, request: &CreateRequest) -> Result<Option<Created>, ProviderError> {
        Ok(Some(Self::answer(request)))
    }

    async fn poll(&self, _reference: &str) -> Result<Option<Observed>, ProviderError> {
        Err(ProviderError::Unsupported)
    }

    async fn cancel(&self, _reference: &str) -> Result<(), ProviderError> {
        Ok(())
    }

    fn verify(&self, _headers: &[Header<'_>], _body: &[u8]) -> Result<WebhookEvent, WebhookError> {
        Err(WebhookError::Unsupported)
    }
}
