//! From the provider's invoice to our words.

use domain::money::{Currency, Money};
use ports::payments::{Created, Observed, Status};

use super::wire::Invoice;

/// Why an invoice says nothing of a payment of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NotOurs {
    /// Priced in a crypto currency, or in a currency that this product does not know: we never make such invoices.
    OtherPricing,
    /// Its amount is no amount of its currency.
    Amount,
}

impl NotOurs {
    pub(super) const fn code(self) -> &'static str {
        match self {
            Self::OtherPricing => "cryptobot_invoice_not_fiat",
            Self::Amount => "cryptobot_amount_malformed",
        }
    }
}

/// A reference of ours, read back. Anything that is no invoice id is a reference the provider cannot know.
pub(super) fn id(reference: &str) -> Option<i64> {
    let digits = !reference.is_empty() && reference.bytes().all(|byte| byte.is_ascii_digit());
    reference.parse().ok().filter(|_| digits)
}

/// Statuses beside these two are payments that are still open.
pub(super) fn status(invoice: &Invoice) -> Status {
    match invoice.status.as_str() {
        "paid" => Status::Succeeded,
        "expired" => Status::Expired,
        _ => Status::Pending,
    }
}

pub(super) fn created(invoice: &Invoice) -> Created {
    Created {
        reference: invoice.id.to_string(),
        status: status(invoice),
        checkout_url: checkout_url(invoice),
    }
}

pub(super) fn observed(invoice: &Invoice) -> Result<Observed, NotOurs> {
    let fiat = invoice.fiat.as_deref().unwrap_or("");
    let currency: Currency = fiat.parse().map_err(|_| NotOurs::OtherPricing)?;
    Ok(Observed {
        reference: invoice.id.to_string(),
        merchant_reference: invoice.payload.clone().filter(|payload| !payload.is_empty()),
        status: status(invoice),
        amount: Money::parse_decimal(&invoice.amount, currency).map_err(|_| NotOurs::Amount)?,
        checkout_url: checkout_url(invoice),
    })
}

fn checkout_url(invoice: &Invoice) -> Option<String> {
    [&invoice.web_app_invoice_url, &invoice.bot_invoice_url]
        .into_iter()
        .flatten()
        .find(|url| !url.is_empty())
        .cloned()
}
