//! Crypto Pay (the provider `cryptobot`): invoices priced in a fiat currency, paid in crypto currency.
//!
//! `createInvoice` has no idempotency key: after a lost answer the invoices are scanned for the order's id ([`recover`]) before another is
//! made. There is no refund API. `expired` is visible only by polling; the one webhook says `invoice_paid`.

mod client;
mod invoice;
mod recover;
mod webhook;
mod wire;

use std::{fmt, time::Duration};

use async_trait::async_trait;
use domain::money::Currency;
use ports::payments::{
    Capabilities, CreateRequest, Created, Header, Observed, PaymentProvider, ProviderError, WebhookError, WebhookEvent,
};
use secrets::Secret;

use self::{
    client::Client,
    wire::{Invoice, Items},
};
use crate::http::{self, SetupError};

/// Base address of the real network.
pub const MAINNET: &str = "https://pay.crypt.bot/api";
/// Base address of the test network; apps and tokens are its own.
pub const TESTNET: &str = "https://testnet-pay.crypt.bot/api";

const WINDOW_SECONDS: i64 = 60 * 60;
/// Bounds of `expires_in`.
const EXPIRES_IN: std::ops::RangeInclusive<i64> = 1..=2_678_400;
const MAX_DESCRIPTION: usize = 1024;
/// Currencies that an invoice can be priced in and that this product knows.
const FIATS: &[&str] = &[
    "USD", "EUR", "RUB", "BYN", "UAH", "GBP", "CNY", "KZT", "UZS", "GEL", "TRY", "AMD", "INR", "AZN", "AED", "PLN",
];

/// Where Crypto Pay is and who we are to it.
#[derive(Clone)]
pub struct CryptoBotOptions {
    /// [`MAINNET`], [`TESTNET`] or a simulator, without a trailing slash.
    pub base_url: String,
    /// The app's token. Also the key of webhook signatures.
    pub token: Secret,
}

impl fmt::Debug for CryptoBotOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CryptoBotOptions")
            .field("base_url", &secrets::redact::address(&self.base_url))
            .finish_non_exhaustive()
    }
}

/// The provider `cryptobot`.
pub struct CryptoBot {
    client: Client,
    /// SHA-256 of the token, the key of webhook signatures.
    webhook_key: Secret<[u8; 32]>,
}

impl CryptoBot {
    /// Makes the provider, which waits 15 s for an answer. Sends nothing.
    ///
    /// # Errors
    /// [`SetupError`] when the token must not be sent to that address, or TLS cannot be set up.
    pub fn new(options: CryptoBotOptions) -> Result<Self, SetupError> {
        Self::with_timeout(options, http::TIMEOUT)
    }

    /// As [`Self::new`], with another patience.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn with_timeout(options: CryptoBotOptions, timeout: Duration) -> Result<Self, SetupError> {
        let webhook_key = Secret::new(secrets::sha256(options.token.expose().as_bytes()));
        Ok(Self {
            client: Client::new(&options.base_url, options.token, timeout)?,
            webhook_key,
        })
    }

    /// Whether address and token are good: `getMe`.
    ///
    /// # Errors
    /// As for every call.
    pub async fn probe(&self) -> Result<(), ProviderError> {
        self.client.call::<wire::App>("getMe", &[]).await?;
        Ok(())
    }
}

impl fmt::Debug for CryptoBot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CryptoBot")
            .field("client", &self.client)
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl PaymentProvider for CryptoBot {
    fn slug(&self) -> &'static str {
        "cryptobot"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            webhooks: true,
            polling: true,
        }
    }

    fn supports(&self, currency: Currency) -> bool {
        FIATS.contains(&currency.as_str())
    }

    fn window_seconds(&self) -> i64 {
        WINDOW_SECONDS
    }

    async fn create(&self, request: &CreateRequest) -> Result<Created, ProviderError> {
        let currency = request.amount.currency();
        if !self.supports(currency) {
            return Err(ProviderError::Unsupported);
        }
        let expires_in = request.expires_in_seconds.clamp(*EXPIRES_IN.start(), *EXPIRES_IN.end());
        let invoice: Invoice = self
            .client
            .call(
                "createInvoice",
                &[
                    ("currency_type", "fiat"),
                    ("fiat", currency.as_str()),
                    ("amount", &request.amount.to_decimal()),
                    ("description", &shortened(&request.description)),
                    ("payload", &request.order_id.to_string()),
                    ("expires_in", &expires_in.to_string()),
                ],
            )
            .await?;
        Ok(invoice::created(&invoice))
    }

    async fn recover(&self, request: &CreateRequest) -> Result<Option<Created>, ProviderError> {
        self.client
            .within_one_timeout(recover::find(&self.client, request))
            .await
    }

    async fn poll(&self, reference: &str) -> Result<Option<Observed>, ProviderError> {
        let Some(id) = invoice::id(reference) else {
            return Ok(None);
        };
        let Items { items } = self
            .client
            .call("getInvoices", &[("invoice_ids", &id.to_string())])
            .await?;
        match items.as_slice() {
            [] => Ok(None),
            [one] if one.id == id => invoice::observed(one)
                .map(Some)
                .map_err(|problem| client::malformed(problem.code())),
            _ => Err(client::malformed("cryptobot_other_invoice")),
        }
    }

    async fn cancel(&self, reference: &str) -> Result<(), ProviderError> {
        let Some(id) = invoice::id(reference) else {
            return Ok(());
        };
        match self
            .client
            .call::<bool>("deleteInvoice", &[("invoice_id", &id.to_string())])
            .await
        {
            Ok(true) => Ok(()),
            Ok(false) => Err(ProviderError::Refused {
                code: "cryptobot_not_deleted".to_owned(),
            }),
            Err(ProviderError::Refused { code }) if code == "cryptobot_invoice_not_found" => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn verify(&self, headers: &[Header<'_>], body: &[u8]) -> Result<WebhookEvent, WebhookError> {
        webhook::verify(self.webhook_key.expose(), headers, body)
    }
}

/// Cut at a character to what the provider takes.
fn shortened(text: &str) -> String {
    text.chars().take(MAX_DESCRIPTION).collect()
}
