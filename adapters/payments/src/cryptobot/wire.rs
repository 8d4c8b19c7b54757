//! The API's forms, as far as we read them. Unknown fields are passed over; amounts stay text.

use serde::Deserialize;

/// Every answer.
#[derive(Deserialize)]
#[serde(bound(deserialize = "T: Deserialize<'de>"))]
pub(super) struct Envelope<T> {
    pub(super) ok: bool,
    pub(super) result: Option<T>,
    pub(super) error: Option<ApiError>,
}

/// Why a call was refused.
#[derive(Deserialize)]
pub(super) struct ApiError {
    pub(super) name: Option<String>,
}

/// Answer of `getMe`.
#[derive(Deserialize)]
pub(super) struct App {
    #[serde(rename = "app_id")]
    _app_id: i64,
}

/// Answer of `getInvoices`.
#[derive(Deserialize)]
pub(super) struct Items {
    pub(super) items: Vec<Invoice>,
}

/// An invoice.
#[derive(Deserialize)]
pub(super) struct Invoice {
    #[serde(rename = "invoice_id")]
    pub(super) id: i64,
    pub(super) status: String,
    /// In major units of `fiat` (or of `asset`, for an invoice that is none of ours).
    pub(super) amount: String,
    /// Absent or empty for an invoice that is priced in a crypto currency.
    pub(super) fiat: Option<String>,
    pub(super) payload: Option<String>,
    pub(super) web_app_invoice_url: Option<String>,
    pub(super) bot_invoice_url: Option<String>,
}

/// A webhook, before its payload is known to be an invoice.
#[derive(Deserialize)]
pub(super) struct Update {
    pub(super) update_type: String,
    pub(super) payload: Option<serde_json::Value>,
}
