//! A payment provider in memory: it keeps invoices, and fails as it is told.

use std::{
    collections::BTreeMap,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use domain::money::{Currency, Money};
use ports::payments::{
    Capabilities, CreateRequest, Created, Header, Observed, PaymentProvider, ProviderError, Status, WebhookError,
    WebhookEvent,
};

#[derive(Debug, Default)]
pub(crate) struct FakePay {
    invoices: Mutex<BTreeMap<String, Observed>>,
    /// The invoice is made, the answer never arrives.
    pub(crate) lose_answers: AtomicBool,
    pub(crate) refuse: AtomicBool,
    pub(crate) unavailable: AtomicBool,
    pub(crate) slow: AtomicBool,
    pub(crate) creates: AtomicU32,
    pub(crate) polls: AtomicU32,
}

impl FakePay {
    fn invoices(&self) -> MutexGuard<'_, BTreeMap<String, Observed>> {
        self.invoices.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn references(&self) -> Vec<String> {
        self.invoices().keys().cloned().collect()
    }

    pub(crate) fn set(&self, reference: &str, status: Status) {
        if let Some(invoice) = self.invoices().get_mut(reference) {
            invoice.status = status;
        }
    }

    pub(crate) fn set_amount(&self, reference: &str, amount: Money) {
        if let Some(invoice) = self.invoices().get_mut(reference) {
            invoice.amount = amount;
        }
    }

    /// A signed call about an invoice as it stands, or about one that does not exist.
    pub(crate) fn call(&self, reference: &str) -> Vec<u8> {
        let invoices = self.invoices();
        let (status, amount, currency, order) = invoices.get(reference).map_or_else(
            || ("succeeded".to_owned(), 29_900, "RUB".to_owned(), String::new()),
            |it| {
                (
                    it.status.as_str().to_owned(),
                    it.amount.amount_minor(),
                    it.amount.currency().to_string(),
                    it.merchant_reference.clone().unwrap_or_default(),
                )
            },
        );
        format!("{reference} {status} {amount} {currency} {order}").into_bytes()
    }
}

pub(crate) const SIGNED: &[Header<'static>] = &[("x-fake-signature", b"good")];

#[async_trait]
impl PaymentProvider for FakePay {
    fn slug(&self) -> &'static str {
        "fakepay"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            webhooks: true,
            polling: true,
        }
    }

    fn supports(&self, currency: Currency) -> bool {
        currency.as_str() == "RUB"
    }

    fn window_seconds(&self) -> i64 {
        3_600
    }

    async fn create(&self, request: &CreateRequest) -> Result<Created, ProviderError> {
        if self.slow.load(Ordering::SeqCst) {
            tokio::time::sleep(Duration::from_millis(300)).await;
        }
        if self.refuse.load(Ordering::SeqCst) {
            return Err(ProviderError::Refused {
                code: "NOPE".to_owned(),
            });
        }
        let number = self.creates.fetch_add(1, Ordering::SeqCst).saturating_add(1);
        let reference = format!("pay-{number}");
        let created = Created {
            reference: reference.clone(),
            status: Status::Pending,
            checkout_url: Some(format!("https://pay.invalid/{number}")),
        };
        self.invoices().insert(
            reference.clone(),
            Observed {
                reference,
                merchant_reference: Some(request.order_id.to_string()),
                status: Status::Pending,
                amount: request.amount,
                checkout_url: None,
            },
        );
        if self.lose_answers.load(Ordering::SeqCst) {
            return Err(ProviderError::Unavailable {
                code: "timeout".to_owned(),
            });
        }
        Ok(created)
    }

    async fn recover(&self, request: &CreateRequest) -> Result<Option<Created>, ProviderError> {
        let order = request.order_id.to_string();
        let invoices = self.invoices();
        Ok(invoices
            .values()
            .find(|it| it.merchant_reference.as_deref() == Some(&order))
            .map(|it| Created {
                reference: it.reference.clone(),
                status: it.status,
                checkout_url: Some("https://pay.invalid/recovered".to_owned()),
            }))
    }

    async fn poll(&self, reference: &str) -> Result<Option<Observed>, ProviderError> {
        self.polls.fetch_add(1, Ordering::SeqCst);
        if self.unavailable.load(Ordering::SeqCst) {
            return Err(ProviderError::Unavailable {
                code: "http_503".to_owned(),
            });
        }
        Ok(self.invoices().get(reference).cloned())
    }

    async fn cancel(&self, reference: &str) -> Result<(), ProviderError> {
        if self.unavailable.load(Ordering::SeqCst) {
            return Err(ProviderError::Unavailable {
                code: "http_503".to_owned(),
            });
        }
        let mut invoices = self.invoices();
        match invoices.get_mut(reference) {
            Some(paid) if paid.status == Status::Succeeded => Err(ProviderError::Refused {
                code: "ALREADY_PAID".to_owned(),
            }),
            Some(open) => {
                open.status = Status::Cancelled;
                Ok(())
            }
            None => Ok(()),
        }
    }

    fn verify(&self, headers: &[Header<'_>], body: &[u8]) -> Result<WebhookEvent, WebhookError> {
        if !headers.contains(&("x-fake-signature", b"good")) {
            return Err(WebhookError::InvalidSignature);
        }
        let text = std::str::from_utf8(body).map_err(|_| WebhookError::Malformed)?;
        let mut parts = text.split(' ');
        let mut next = || parts.next().ok_or(WebhookError::Malformed);
        let (reference, status) = (next()?, next()?);
        let amount: i64 = next()?.parse().map_err(|_| WebhookError::Malformed)?;
        let currency = next()?.parse().map_err(|_| WebhookError::Malformed)?;
        let order = next()?;
        let status = if status == "succeeded" {
            Status::Succeeded
        } else {
            Status::Cancelled
        };
        Ok(WebhookEvent {
            event_key: format!("{}:{reference}", status.as_str()),
            payment: Some(Observed {
                reference: reference.to_owned(),
                merchant_reference: (!order.is_empty()).then(|| order.to_owned()),
                status,
                amount: Money::new(amount, currency).map_err(|_| WebhookError::Malformed)?,
                checkout_url: None,
            }),
        })
    }
}

/// The provider that is a person.
#[derive(Debug)]
pub(crate) struct ManualPay;

#[async_trait]
impl PaymentProvider for ManualPay {
    fn slug(&self) -> &'static str {
        "manual"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::default()
    }

    fn supports(&self, _: Currency) -> bool {
        true
    }

    fn window_seconds(&self) -> i64 {
        72 * 3_600
    }

    async fn create(&self, request: &CreateRequest) -> Result<Created, ProviderError> {
        Ok(Created {
            reference: request.order_id.to_string(),
            status: Status::RequiresAction,
            checkout_url: None,
        })
    }

    async fn recover(&self, request: &CreateRequest) -> Result<Option<Created>, ProviderError> {
        self.create(request).await.map(Some)
    }

    async fn poll(&self, _: &str) -> Result<Option<Observed>, ProviderError> {
        Err(ProviderError::Unsupported)
    }

    async fn cancel(&self, _: &str) -> Result<(), ProviderError> {
        Ok(())
    }

    fn verify(&self, _: &[Header<'_>], _: &[u8]) -> Result<WebhookEvent, WebhookError> {
        Err(WebhookError::Unsupported)
    }
}
