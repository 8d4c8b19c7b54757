//! Money as whole minor units of one currency. No floating point, no implicit exchange, no silent overflow.

mod decimal;
#[cfg(test)]
mod tests;

use std::{cmp::Ordering, fmt, str::FromStr};

use serde::{Deserialize, Serialize, de};

/// Largest amount in minor units: 2^53 − 1, so that every amount is an exact JSON number everywhere.
pub const MAX_MINOR: i64 = 9_007_199_254_740_991;

/// A currency code: three upper-case letters out of the set this product knows an exponent for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Currency([u8; 3]);

/// An amount of one currency, in minor units, within ±[`MAX_MINOR`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Money {
    amount_minor: i64,
    currency: Currency,
}

/// Why an amount or a currency is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Not three upper-case letters, or a code without a known exponent.
    #[error("unknown currency")]
    UnknownCurrency,
    /// Beyond ±(2^53 − 1) minor units.
    #[error("amount out of range")]
    OutOfRange,
    /// Two currencies met in one sum or comparison.
    #[error("amounts of different currencies")]
    CurrencyMismatch,
    /// Not a plain decimal number, or with more fraction digits than the currency has.
    #[error("not an amount of this currency")]
    Malformed,
}

/// Codes with no minor unit.
const EXPONENT_0: &[&str] = &["XTR", "JPY", "KRW"];
/// Codes with three fraction digits.
const EXPONENT_3: &[&str] = &["BHD", "JOD", "KWD", "OMR", "TND"];
/// Codes with two fraction digits.
const EXPONENT_2: &[&str] = &[
    "RUB", "USD", "EUR", "GBP", "AED", "AMD", "AUD", "AZN", "BYN", "CAD", "CHF", "CNY", "GEL", "INR", "KZT", "MDL",
    "NOK", "NZD", "PLN", "SEK", "TRY", "UAH", "UZS",
];

impl Currency {
    /// The code, as `RUB`.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or("???")
    }

    /// How many fraction digits an amount of it has.
    pub fn exponent(self) -> u32 {
        let code = self.as_str();
        if EXPONENT_0.contains(&code) {
            0
        } else if EXPONENT_3.contains(&code) {
            3
        } else {
            2
        }
    }
}

impl FromStr for Currency {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let known = EXPONENT_2.contains(&text) || EXPONENT_0.contains(&text) || EXPONENT_3.contains(&text);
        match <[u8; 3]>::try_from(text.as_bytes()) {
            Ok(code) if known => Ok(Self(code)),
            _ => Err(Error::UnknownCurrency),
        }
    }
}

impl fmt::Display for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Currency {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Currency {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

impl Money {
    /// An amount in minor units.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] beyond ±[`MAX_MINOR`].
    pub fn new(amount_minor: i64, currency: Currency) -> Result<Self, Error> {
        if (-MAX_MINOR..=MAX_MINOR).contains(&amount_minor) {
            Ok(Self { amount_minor, currency })
        } else {
            Err(Error::OutOfRange)
        }
    }

    /// Nothing of a currency.
    pub const fn zero(currency: Currency) -> Self {
        Self {
            amount_minor: 0,
            currency,
        }
    }

    /// The sum of two amounts of one currency.
    ///
    /// # Errors
    /// [`Error::CurrencyMismatch`], or [`Error::OutOfRange`] beyond ±[`MAX_MINOR`].
    pub fn checked_add(self, other: Self) -> Result<Self, Error> {
        self.same_currency(other)?;
        let sum = self
            .amount_minor
            .checked_add(other.amount_minor)
            .ok_or(Error::OutOfRange)?;
        Self::new(sum, self.currency)
    }

    /// What is left of an amount after another one of the same currency; may be negative.
    ///
    /// # Errors
    /// As [`Self::checked_add`].
    pub fn checked_sub(self, other: Self) -> Result<Self, Error> {
        self.same_currency(other)?;
        let rest = self
            .amount_minor
            .checked_sub(other.amount_minor)
            .ok_or(Error::OutOfRange)?;
        Self::new(rest, self.currency)
    }

    /// Which of two amounts of one currency is greater.
    ///
    /// # Errors
    /// [`Error::CurrencyMismatch`]: amounts of two currencies have no order.
    pub fn compare(self, other: Self) -> Result<Ordering, Error> {
        self.same_currency(other)?;
        Ok(self.amount_minor.cmp(&other.amount_minor))
    }

    fn same_currency(self, other: Self) -> Result<(), Error> {
        if self.currency == other.currency {
            Ok(())
        } else {
            Err(Error::CurrencyMismatch)
        }
    }

    /// In minor units.
    pub const fn amount_minor(self) -> i64 {
        self.amount_minor
    }

    /// Of which currency.
    pub const fn currency(self) -> Currency {
        self.currency
    }
}

impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.to_decimal(), self.currency)
    }
}

impl<'de> Deserialize<'de> for Money {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Parts {
            amount_minor: i64,
            currency: Currency,
        }
        let parts = Parts::deserialize(deserializer)?;
        Self::new(parts.amount_minor, parts.currency).map_err(de::Error::custom)
    }
}
