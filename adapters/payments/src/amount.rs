//! Amounts as providers spell them: plain decimal numbers in major units.

use domain::money::{Currency, Error, Money};

/// Reads `299`, `299.5` or `299.00`. No sign, no exponent, no white space; more fraction digits than the currency has are refused.
pub(crate) fn parse(text: &str, currency: Currency) -> Result<Money, Error> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let exponent = usize::try_from(currency.exponent()).map_err(|_| Error::Malformed)?;
    let shaped = [whole, fraction]
        .iter()
        .all(|part| !part.is_empty() && part.bytes().all(|it| it.is_ascii_digit()));
    let digits = if text.contains('.') { fraction.len() } else { 0 };
    if !shaped || digits > exponent {
        return Err(Error::Malformed);
    }
    let padding = exponent.saturating_sub(digits);
    let fraction = if digits == 0 { "" } else { fraction };
    let minor = format!("{whole}{fraction}{}", "0".repeat(padding));
    Money::new(minor.parse().map_err(|_| Error::OutOfRange)?, currency)
}

/// Writes `299.00`, with all fraction digits of the currency.
pub(crate) fn format(money: Money) -> String {
    let exponent = usize::try_from(money.currency().exponent()).unwrap_or(0);
    let sign = if money.amount_minor() < 0 { "-" } else { "" };
    let digits = format!(
        "{:0>width$}",
        money.amount_minor().unsigned_abs(),
        width = exponent.saturating_add(1)
    );
    let (whole, fraction) = digits.split_at(digits.len().saturating_sub(exponent));
    if fraction.is_empty() {
        format!("{sign}{whole}")
    } else {
        format!("{sign}{whole}.{fraction}")
    }
}
