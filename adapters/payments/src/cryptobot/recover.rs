//! Finding the invoice that a `createInvoice` with a lost answer may have made.
//!
//! Only an invoice of the same order and the same amount counts, and never an expired one: adopting that would leave the customer with a
//! link that cannot be paid. A paid one wins over an open one; of several the youngest. The scan asks for open and for paid invoices
//! apart, so that a shop's expired ones do not push ours out of reach. All pages together take no longer than one call may, because whoever
//! waits holds the payment meanwhile.

use ports::payments::{CreateRequest, Created, ProviderError};

use super::{
    client::Client,
    invoice,
    wire::{Invoice, Items},
};

/// Invoices a page: about 800 bytes each, well inside the bound of an answer.
const PAGE: usize = 200;
/// Pages read at most of either status. An invoice lives an hour, so ours is near the head.
const PAGES: usize = 20;

pub(super) async fn find(client: &Client, request: &CreateRequest) -> Result<Option<Created>, ProviderError> {
    for status in ["paid", "active"] {
        if let Some(found) = scan(client, request, status).await? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

async fn scan(client: &Client, request: &CreateRequest, status: &str) -> Result<Option<Created>, ProviderError> {
    let payload = request.order_id.to_string();
    let currency = request.amount.currency();
    let mut offset = 0_usize;
    for _ in 0..PAGES {
        let parameters = [
            ("status", status),
            ("fiat", currency.as_str()),
            ("offset", &offset.to_string()),
            ("count", &PAGE.to_string()),
        ];
        let Items { items } = client.call("getInvoices", &parameters).await?;
        let youngest = items
            .iter()
            .filter(|it| is_ours(it, status, &payload, request))
            .max_by_key(|it| it.id);
        if let Some(found) = youngest {
            return Ok(Some(invoice::created(found)));
        }
        if items.len() < PAGE {
            return Ok(None);
        }
        offset = offset.saturating_add(items.len());
    }
    tracing::warn!(status, "an invoice was looked for and not found among the newest ones");
    Ok(None)
}

/// The status is checked here too: a filter that the provider does not honour must not make us adopt a dead invoice.
fn is_ours(candidate: &Invoice, status: &str, payload: &str, request: &CreateRequest) -> bool {
    candidate.status == status
        && candidate.payload.as_deref() == Some(payload)
        && invoice::observed(candidate).is_ok_and(|observed| observed.amount == request.amount)
}
