//! What may become of an invoice: decisions against the state, each one effect or a refusal.

use domain::time::Timestamp;

use super::{
    failure::Failure,
    invoice::{Invoice, Pricing, Status},
    parameters::Parameters,
    state::{Effect, State},
};

const FIATS: &[&str] = &[
    "USD", "EUR", "RUB", "BYN", "UAH", "GBP", "CNY", "KZT", "UZS", "GEL", "TRY", "AMD", "THB", "INR", "BRL", "IDR",
    "AZN", "AED", "PLN", "ILS",
];
const ASSETS: &[&str] = &["USDT", "TON", "BTC", "ETH", "LTC", "BNB", "TRX", "USDC", "JET"];
const MAX_DESCRIPTION_CHARS: usize = 1024;
const MAX_PAYLOAD_BYTES: usize = 4096;

/// Another invoice, whatever was asked before.
pub(super) fn create(state: &State, input: &Parameters, now: Timestamp) -> Result<Effect, Failure> {
    let description = input.text("description").map(str::to_owned);
    if description
        .as_deref()
        .is_some_and(|text| text.chars().count() > MAX_DESCRIPTION_CHARS)
    {
        return Err(Failure::invalid("DESCRIPTION_TOO_LONG"));
    }
    let payload = input.text("payload").map(str::to_owned);
    if payload.as_deref().is_some_and(|text| text.len() > MAX_PAYLOAD_BYTES) {
        return Err(Failure::invalid("PAYLOAD_TOO_LONG"));
    }
    let invoice = Invoice {
        id: state.next_invoice(),
        pricing: pricing(input)?,
        amount: amount(input.text("amount").unwrap_or("")).ok_or(Failure::invalid("AMOUNT_INVALID"))?,
        description,
        payload,
        created_at: now,
        expires_at: input.after("expires_in", now)?,
        status: Status::Active,
        paid_at: None,
    };
    Ok(Effect::InvoiceCreated { invoice })
}

pub(super) fn delete(state: &State, invoice_id: i64) -> Result<Effect, Failure> {
    match state.get(invoice_id).ok_or(Failure::INVOICE_NOT_FOUND)?.status {
        Status::Paid => Err(Failure::INVOICE_ALREADY_PAID),
        Status::Active | Status::Expired => Ok(Effect::InvoiceDeleted { invoice_id }),
    }
}

/// Paid by somebody. Paying a paid invoice again is refused, as the real payer's app does.
pub(super) fn pay(state: &State, invoice_id: i64, now: Timestamp) -> Result<Effect, Failure> {
    match state.get(invoice_id).ok_or(Failure::INVOICE_NOT_FOUND)?.status_at(now) {
        Status::Active => Ok(Effect::InvoicePaid {
            invoice_id,
            update_id: state.next_update(),
        }),
        Status::Paid => Err(Failure::INVOICE_ALREADY_PAID),
        Status::Expired => Err(Failure::INVOICE_EXPIRED),
    }
}

pub(super) fn expire(state: &State, invoice_id: i64) -> Result<Effect, Failure> {
    match state.get(invoice_id).ok_or(Failure::INVOICE_NOT_FOUND)?.status {
        Status::Paid => Err(Failure::INVOICE_ALREADY_PAID),
        Status::Active | Status::Expired => Ok(Effect::InvoiceExpired { invoice_id }),
    }
}

fn pricing(input: &Parameters) -> Result<Pricing, Failure> {
    let known = |name: &str, set: &[&str]| input.text(name).filter(|code| set.contains(code)).map(str::to_owned);
    match input.text("currency_type").unwrap_or("crypto") {
        "fiat" => Ok(Pricing::Fiat {
            fiat: known("fiat", FIATS).ok_or(Failure::invalid("FIAT_INVALID"))?,
        }),
        "crypto" => Ok(Pricing::Crypto {
            asset: known("asset", ASSETS).ok_or(Failure::invalid("ASSET_INVALID"))?,
        }),
        _ => Err(Failure::invalid("CURRENCY_TYPE_INVALID")),
    }
}

/// A positive decimal number; written back without needless zeros, as the real service does.
fn amount(text: &str) -> Option<String> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(fraction) || text.len() > 40 {
        return None;
    }
    let whole = Some(whole.trim_start_matches('0'))
        .filter(|it| !it.is_empty())
        .unwrap_or("0");
    match fraction.trim_end_matches('0') {
        "" if whole == "0" => None,
        "" => Some(whole.to_owned()),
        fraction => Some(format!("{whole}.{fraction}")),
    }
}

#[cfg(test)]
mod tests {
    use super::amount;

    #[test]
    fn amounts_lose_needless_zeros() {
        for (text, expected) in [
            ("299.00", Some("299")),
            ("299.50", Some("299.5")),
            ("0.07", Some("0.07")),
            ("007", Some("7")),
            ("0", None),
            ("0.00", None),
            ("", None),
            ("-1", None),
            ("1e2", None),
            (".5", None),
            ("1.", None),
        ] {
            assert_eq!(amount(text).as_deref(), expected, "{text}");
        }
    }
}
