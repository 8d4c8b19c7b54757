//! What is for sale: plans in immutable versions, and digital goods. Read once from a file, never changed while running.
//!
//! An order keeps a snapshot of what it bought, so a later edit of the file changes no order. Ids of plan versions stand in the file:
//! they are what clients name and what the log keeps.

mod file;
mod sample;
mod wire;

use std::collections::BTreeMap;

use domain::{
    goods::Kind,
    ids::PlanVersionId,
    money::{Currency, Money},
    plan::Terms,
};

pub use file::{CatalogError, Problem, parse};
pub use sample::sample;

/// Everything for sale.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Catalog {
    /// Plans, in the order of the file.
    pub plans: Vec<Plan>,
    /// Goods, in the order of the file.
    pub goods: Vec<GoodsProduct>,
}

/// A plan under a stable code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Stable code.
    pub code: String,
    /// Names by locale.
    pub title: Title,
    /// Every version ever sold; what stands last is offered, the others can still be extended.
    pub versions: Vec<PlanVersion>,
}

/// One immutable version of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanVersion {
    /// What it grants.
    pub terms: Terms,
    /// Minor units by currency.
    pub prices: BTreeMap<Currency, i64>,
}

/// A product of the shop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GoodsProduct {
    /// Stable code.
    pub code: String,
    /// Names by locale.
    pub title: Title,
    /// Slug of the provider that delivers it.
    pub provider: String,
    /// What is delivered.
    pub kind: Kind,
    /// How the price is made.
    pub pricing: Pricing,
}

/// How the price of goods is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pricing {
    /// As written, in minor units by currency.
    Fixed(BTreeMap<Currency, i64>),
    /// The provider's price at the moment of the order plus a share of it, in hundredths of a percent, rounded up.
    Markup {
        /// 1500 is 15 %.
        basis_points: u32,
        /// What it may be bought with.
        currencies: Vec<Currency>,
    },
}

/// A name in the two languages of the product.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Title {
    /// Russian.
    pub ru: String,
    /// English.
    pub en: String,
}

impl Title {
    /// The name for a locale; anything but `en` reads Russian.
    pub fn of(&self, locale: &str) -> &str {
        if locale == "en" { &self.en } else { &self.ru }
    }
}

impl Catalog {
    /// A plan version by its id, with its price in `currency`.
    pub fn version(&self, id: PlanVersionId, currency: Currency) -> Option<(&PlanVersion, Money)> {
        let version = self
            .plans
            .iter()
            .flat_map(|plan| &plan.versions)
            .find(|version| version.terms.plan_version_id == id)?;
        let price = Money::new(*version.prices.get(&currency)?, currency).ok()?;
        Some((version, price))
    }

    /// A product by its code.
    pub fn product(&self, code: &str) -> Option<&GoodsProduct> {
        self.goods.iter().find(|product| product.code == code)
    }
}

impl Pricing {
    /// The price for a cost; `None` when it is not sold in that currency, or the cost is needed and not known, or the sum is out of range.
    pub fn price(&self, currency: Currency, cost_minor: Option<i64>) -> Option<Money> {
        match self {
            Self::Fixed(prices) => Money::new(*prices.get(&currency)?, currency).ok(),
            Self::Markup {
                basis_points,
                currencies,
            } => {
                let cost = cost_minor.filter(|cost| *cost > 0 && currencies.contains(&currency))?;
                let markup = cost
                    .checked_mul(i64::from(*basis_points))?
                    .checked_add(9_999)?
                    .checked_div(10_000)?;
                Money::new(cost.checked_add(markup)?, currency).ok()
            }
        }
    }
}
