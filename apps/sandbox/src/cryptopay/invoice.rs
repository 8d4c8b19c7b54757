//! An invoice as it is kept and as it is shown.

use chrono::SecondsFormat;
use domain::time::Timestamp;
use serde::{Deserialize, Serialize};

/// How an invoice is priced.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "currencyType", rename_all = "lowercase")]
pub enum Pricing {
    /// In a currency of a state; paid in a crypto currency at the rate of the moment.
    Fiat {
        /// As `RUB`.
        fiat: String,
    },
    /// In a crypto currency. The product makes no such invoices, but a seller's app may.
    Crypto {
        /// As `USDT`.
        asset: String,
    },
}

/// How far an invoice came. That time has run out is decided when it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Can be paid.
    Active,
    /// Was paid.
    Paid,
    /// Can no longer be paid.
    Expired,
}

/// One invoice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Invoice {
    /// From 1, never reused.
    pub id: i64,
    /// In which currency.
    pub pricing: Pricing,
    /// Decimal text without needless zeros.
    pub amount: String,
    /// What the payer reads.
    pub description: Option<String>,
    /// The seller's own reference.
    pub payload: Option<String>,
    /// When it was made.
    pub created_at: Timestamp,
    /// From when on it cannot be paid.
    pub expires_at: Option<Timestamp>,
    /// As last recorded; see [`Invoice::status_at`].
    pub status: Status,
    /// When it was paid.
    pub paid_at: Option<Timestamp>,
}

impl Invoice {
    /// The status at a point in time.
    pub fn status_at(&self, now: Timestamp) -> Status {
        match self.status {
            Status::Active if self.expires_at.is_some_and(|at| at <= now) => Status::Expired,
            status => status,
        }
    }
}

/// The wire form, in the API's order of fields.
#[derive(Serialize)]
pub(super) struct Shown<'a> {
    invoice_id: i64,
    hash: String,
    currency_type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    asset: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fiat: Option<&'a str>,
    amount: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    paid_asset: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    paid_amount: Option<&'a str>,
    bot_invoice_url: String,
    mini_app_invoice_url: String,
    web_app_invoice_url: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'a str>,
    status: Status,
    created_at: String,
    allow_comments: bool,
    allow_anonymous: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    expiration_date: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    paid_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    paid_anonymously: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    payload: Option<&'a str>,
}

pub(super) fn shown<'a>(invoice: &'a Invoice, base: &str, now: Timestamp) -> Shown<'a> {
    let hash = format!("IV{:010}", invoice.id);
    let status = invoice.status_at(now);
    let paid = status == Status::Paid;
    let (currency_type, asset, fiat) = match &invoice.pricing {
        Pricing::Fiat { fiat } => ("fiat", None, Some(fiat.as_str())),
        Pricing::Crypto { asset } => ("crypto", Some(asset.as_str()), None),
    };
    let url = |kind: &str| format!("{base}/pay/{kind}/{hash}");
    Shown {
        invoice_id: invoice.id,
        currency_type,
        asset,
        fiat,
        amount: &invoice.amount,
        paid_asset: paid.then_some("USDT"),
        paid_amount: paid.then_some(invoice.amount.as_str()),
        bot_invoice_url: url("bot"),
        mini_app_invoice_url: url("mini"),
        web_app_invoice_url: url("web"),
        description: invoice.description.as_deref(),
        status,
        created_at: iso(invoice.created_at),
        allow_comments: true,
        allow_anonymous: true,
        expiration_date: invoice.expires_at.map(iso),
        paid_at: invoice.paid_at.map(iso),
        paid_anonymously: paid.then_some(true),
        payload: invoice.payload.as_deref(),
        hash,
    }
}

pub(super) fn iso(at: Timestamp) -> String {
    at.to_rfc3339_opts(SecondsFormat::Millis, true)
}
