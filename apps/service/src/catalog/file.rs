//! Reading the catalog from TOML. Every mistake of the file is told at once, with the place it stands at.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use domain::{
    goods::Kind,
    money::{Currency, MAX_MINOR},
    plan::{Limits, Terms},
};
use uuid::Uuid;

use super::{
    Catalog, GoodsProduct, Plan, PlanVersion, Pricing, Title,
    wire::{FileIn, GoodsIn, PlanIn, TitleIn, VersionIn},
};

/// One mistake of a catalog.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where, as `plans[1].versions[0].prices.RUB`.
    pub place: String,
    /// What is wrong.
    pub what: String,
}

/// Why a catalog is refused: everything that is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct CatalogError {
    /// In the order of the file; never empty.
    pub problems: Vec<Problem>,
}

impl fmt::Display for CatalogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the catalog is refused:")?;
        self.problems
            .iter()
            .try_for_each(|problem| write!(f, "\n  {}: {}", problem.place, problem.what))
    }
}

/// Reads a catalog.
///
/// # Errors
/// [`CatalogError`] with every mistake found; a text that is not TOML, or not of this form, is one mistake.
pub fn parse(text: &str) -> Result<Catalog, CatalogError> {
    let file: FileIn = toml::from_str(text).map_err(|error| CatalogError {
        problems: vec![Problem {
            place: "the file".to_owned(),
            what: error.to_string().trim_end().to_owned(),
        }],
    })?;
    let mut check = Check::default();
    let catalog = Catalog {
        plans: file
            .plans
            .into_iter()
            .enumerate()
            .map(|(at, plan)| check.plan(at, plan))
            .collect(),
        goods: file
            .goods
            .into_iter()
            .enumerate()
            .filter_map(|(at, goods)| check.goods(at, goods))
            .collect(),
    };
    if check.problems.is_empty() {
        Ok(catalog)
    } else {
        Err(CatalogError {
            problems: check.problems,
        })
    }
}

#[derive(Default)]
struct Check {
    problems: Vec<Problem>,
    codes: BTreeSet<String>,
    ids: BTreeSet<Uuid>,
}

impl Check {
    fn require(&mut self, holds: bool, place: &str, what: &str) {
        if !holds {
            self.problems.push(Problem {
                place: place.to_owned(),
                what: what.to_owned(),
            });
        }
    }

    fn code(&mut self, place: &str, code: &str) {
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-' || byte == b'_';
        let fits = (1..=64).contains(&code.len()) && code.bytes().all(plain);
        self.require(fits, place, "a code has 1 to 64 characters out of a-z, 0-9, - and _");
        let fresh = self.codes.insert(code.to_owned());
        self.require(fresh, place, "the code is used twice");
    }

    fn title(&mut self, place: &str, title: TitleIn) -> Title {
        let named = !title.ru.trim().is_empty() && !title.en.trim().is_empty();
        self.require(named, place, "both languages need a name");
        Title {
            ru: title.ru,
            en: title.en,
        }
    }

    fn plan(&mut self, at: usize, plan: PlanIn) -> Plan {
        let place = format!("plans[{at}]");
        self.code(&format!("{place}.code"), &plan.code);
        self.require(
            !plan.versions.is_empty(),
            &format!("{place}.versions"),
            "a plan has at least one version",
        );
        let versions = plan
            .versions
            .into_iter()
            .enumerate()
            .map(|(at, version)| self.version(&format!("{place}.versions[{at}]"), &plan.code, version))
            .collect();
        Plan {
            title: self.title(&format!("{place}.title"), plan.title),
            code: plan.code,
            versions,
        }
    }

    fn version(&mut self, place: &str, plan_code: &str, version: VersionIn) -> PlanVersion {
        let fresh = !version.id.is_nil() && self.ids.insert(version.id);
        self.require(fresh, &format!("{place}.id"), "an id is not nil and not used twice");
        self.require(
            version.duration_seconds > 0,
            &format!("{place}.duration_seconds"),
            "must be greater than 0",
        );
        self.require(
            version.grace_seconds >= 0,
            &format!("{place}.grace_seconds"),
            "must not be negative",
        );
        let traffic = version.traffic_bytes.is_none_or(|bytes| bytes > 0);
        self.require(
            traffic,
            &format!("{place}.traffic_bytes"),
            "must be greater than 0; leave it out for unlimited",
        );
        let devices = version.devices.is_none_or(|devices| devices > 0);
        self.require(
            devices,
            &format!("{place}.devices"),
            "must be greater than 0; leave it out for unlimited",
        );
        self.require(
            !version.squads.is_empty(),
            &format!("{place}.squads"),
            "a version opens at least one squad",
        );
        let squads: BTreeSet<Uuid> = version.squads.into_iter().collect();
        PlanVersion {
            prices: self.prices(&format!("{place}.prices"), version.prices, 0),
            terms: Terms {
                plan_version_id: version.id.into(),
                plan_code: plan_code.to_owned(),
                duration_seconds: version.duration_seconds,
                grace_seconds: version.grace_seconds,
                limits: Limits {
                    traffic_bytes: version.traffic_bytes,
                    devices: version.devices,
                    squads: squads.into_iter().collect(),
                },
            },
        }
    }

    fn prices(&mut self, place: &str, prices: BTreeMap<String, i64>, least: i64) -> BTreeMap<Currency, i64> {
        self.require(!prices.is_empty(), place, "at least one price is needed");
        let mut known = BTreeMap::new();
        for (code, minor) in prices {
            let place = format!("{place}.{code}");
            self.require(
                (least..=MAX_MINOR).contains(&minor),
                &place,
                "the price is out of range",
            );
            if let Some(currency) = self.currency(&place, &code) {
                known.insert(currency, minor);
            }
        }
        known
    }

    fn currency(&mut self, place: &str, code: &str) -> Option<Currency> {
        let currency = code.parse().ok();
        self.require(currency.is_some(), place, "unknown currency");
        currency
    }

    fn goods(&mut self, at: usize, goods: GoodsIn) -> Option<GoodsProduct> {
        let place = format!("goods[{at}]");
        self.code(&format!("{place}.code"), &goods.code);
        self.require(
            !goods.provider.is_empty(),
            &format!("{place}.provider"),
            "a provider is needed",
        );
        let title = self.title(&format!("{place}.title"), goods.title);
        let kind = match (goods.stars, goods.premium_months) {
            (Some(quantity), None) if quantity >= 50 => Some(Kind::TelegramStars { quantity }),
            (None, Some(months @ (3 | 6 | 12))) => Some(Kind::TelegramPremium { months }),
            _ => None,
        };
        self.require(
            kind.is_some(),
            &place,
            "either stars (at least 50) or premium_months (3, 6 or 12)",
        );
        let pricing = match (goods.prices, goods.markup_basis_points) {
            (Some(prices), None) => Some(Pricing::Fixed(self.prices(&format!("{place}.prices"), prices, 1))),
            (None, Some(basis_points)) => {
                let place = format!("{place}.currencies");
                self.require(
                    !goods.currencies.is_empty(),
                    &place,
                    "a product with a markup names its currencies",
                );
                let currencies = goods
                    .currencies
                    .iter()
                    .filter_map(|code| self.currency(&place, code))
                    .collect();
                Some(Pricing::Markup {
                    basis_points,
                    currencies,
                })
            }
            _ => None,
        };
        self.require(pricing.is_some(), &place, "either prices or markup_basis_points");
        Some(GoodsProduct {
            code: goods.code,
            title,
            provider: goods.provider,
            kind: kind?,
            pricing: pricing?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mistake_is_told_at_once() {
        let text = r#"
            [[plans]]
            code = "Bad Code"
            title = { ru = "", en = "x" }
            [[plans.versions]]
            id = "00000000-0000-0000-0000-000000000000"
            duration_seconds = 0
            squads = []
            prices = { RUB = -1, ABC = 5 }

            [[goods]]
            code = "stars"
            title = { ru = "a", en = "b" }
            provider = "sandbox"
            stars = 49
            prices = { USD = 0 }
        "#;
        let places: Vec<_> = parse(text)
            .unwrap_err()
            .problems
            .into_iter()
            .map(|problem| problem.place)
            .collect();
        assert_eq!(
            places,
            [
                "plans[0].code",
                "plans[0].versions[0].id",
                "plans[0].versions[0].duration_seconds",
                "plans[0].versions[0].squads",
                "plans[0].versions[0].prices.ABC",
                "plans[0].versions[0].prices.RUB",
                "plans[0].title",
                "goods[0]",
                "goods[0].prices.USD",
            ]
        );
    }

    #[test]
    fn a_field_that_nobody_knows_is_refused() {
        let error = parse("[[plans]]\ncode = 'a'\ncolour = 'red'\n").unwrap_err();
        assert!(error.to_string().contains("colour"), "{error}");
    }
}
