//! Amounts as decimal text, the form that payment providers speak. Digits are moved, never calculated with: nothing is rounded.

use super::{Currency, Error, Money};

impl Money {
    /// Reads a provider's decimal text, as `10.5`: digits, at most one dot with digits on both sides, no sign, no more fraction digits
    /// than the currency has. A short fraction is filled with zeros.
    ///
    /// # Errors
    /// [`Error::Malformed`] for any other text, [`Error::OutOfRange`] beyond [`super::MAX_MINOR`].
    pub fn parse_decimal(text: &str, currency: Currency) -> Result<Self, Error> {
        let (whole, fraction) = match text.split_once('.') {
            Some((whole, fraction)) if !fraction.is_empty() => (whole, fraction),
            Some(_) => return Err(Error::Malformed),
            None => (text, ""),
        };
        let plain = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
        let places = usize::try_from(currency.exponent()).map_err(|_| Error::Malformed)?;
        if whole.is_empty() || !plain(whole) || !plain(fraction) || fraction.len() > places {
            return Err(Error::Malformed);
        }
        // Only digits are left, so the one thing that can go wrong is their number.
        let amount_minor = format!("{whole}{fraction:0<places$}")
            .parse()
            .map_err(|_| Error::OutOfRange)?;
        Self::new(amount_minor, currency)
    }

    /// The amount as decimal text with all fraction digits of its currency, as `10.50`. A negative amount has a leading minus.
    pub fn to_decimal(self) -> String {
        let places = usize::try_from(self.currency.exponent()).unwrap_or(0);
        let sign = if self.amount_minor < 0 { "-" } else { "" };
        let digits = format!(
            "{:0>width$}",
            self.amount_minor.unsigned_abs(),
            width = places.saturating_add(1)
        );
        let (whole, fraction) = digits.split_at(digits.len().saturating_sub(places));
        let dot = if fraction.is_empty() { "" } else { "." };
        format!("{sign}{whole}{dot}{fraction}")
    }
}
