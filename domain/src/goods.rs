//! Digital goods as they were sold.

mod recipient;

use serde::{Deserialize, Serialize};

pub use recipient::{InvalidRecipient, Recipient};

use crate::money::MAX_MINOR;

/// One product of the shop, with what it costs the seller.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Product {
    /// The product's stable code.
    pub code: String,
    /// Slug of the provider that delivers it.
    pub provider: String,
    /// What is delivered.
    pub kind: Kind,
    /// What the provider charges the seller, in minor units of the order's currency; `None` when the provider publishes no price.
    pub cost_minor: Option<i64>,
}

/// What a provider delivers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Kind {
    /// Telegram Stars; at least 50.
    TelegramStars {
        /// How many.
        quantity: i64,
    },
    /// Telegram Premium for 3, 6 or 12 months.
    TelegramPremium {
        /// How long.
        months: i32,
    },
}

impl Product {
    /// Something that its provider delivers, at a cost that is not negative.
    pub fn is_sellable(&self) -> bool {
        self.kind.is_sellable() && self.cost_minor.is_none_or(|cost| (0..=MAX_MINOR).contains(&cost))
    }
}

impl Kind {
    /// Stars come from 50 up, Premium for 3, 6 or 12 months.
    pub const fn is_sellable(self) -> bool {
        match self {
            Self::TelegramStars { quantity } => quantity >= 50,
            Self::TelegramPremium { months } => matches!(months, 3 | 6 | 12),
        }
    }
}
