//! The built-in catalog of a sandbox: enough to see every kind of order, at made-up prices.

use std::collections::BTreeMap;

use domain::{
    goods::Kind,
    money::Currency,
    plan::{Limits, Terms},
};
use uuid::Uuid;

use super::{Catalog, GoodsProduct, Plan, PlanVersion, Pricing, Title};

/// Slug of the goods provider of the sample.
const GOODS_PROVIDER: &str = "fragment";
const DAY_SECONDS: i64 = 86_400;
const GIB: i64 = 1 << 30;

/// The catalog of a sandbox. Its plans open `squads`: those that the sandbox's panel has.
pub fn sample(squads: &[Uuid]) -> Catalog {
    let mut squads = squads.to_vec();
    squads.sort_unstable();
    squads.dedup();
    let plan =
        |number: u128, code: &str, title: Title, days: i64, traffic_bytes, devices, prices: &[(&str, i64)]| Plan {
            code: code.to_owned(),
            title,
            versions: vec![PlanVersion {
                terms: Terms {
                    // Stable for ever: the README and the demo name them.
                    plan_version_id: Uuid::from_u128(0x0196_0000_0000_7000_8000_0000_0000_0000 | number).into(),
                    plan_code: code.to_owned(),
                    duration_seconds: days.saturating_mul(DAY_SECONDS),
                    grace_seconds: DAY_SECONDS,
                    limits: Limits {
                        traffic_bytes,
                        devices,
                        squads: squads.clone(),
                    },
                },
                prices: by_currency(prices),
            }],
        };
    Catalog {
        plans: vec![
            plan(
                1,
                "month",
                title("Месяц", "One month"),
                30,
                Some(100 * GIB),
                Some(3),
                &[("RUB", 29_900), ("USD", 399)],
            ),
            plan(
                2,
                "year",
                title("Год", "One year"),
                365,
                None,
                Some(5),
                &[("RUB", 249_000), ("USD", 3_590)],
            ),
            plan(
                3,
                "trial",
                title("Проба", "Trial"),
                3,
                Some(5 * GIB),
                Some(1),
                &[("RUB", 0), ("USD", 0)],
            ),
        ],
        goods: goods(),
    }
}

fn goods() -> Vec<GoodsProduct> {
    vec![
        GoodsProduct {
            code: "stars-100".to_owned(),
            title: title("100 звёзд", "100 Stars"),
            provider: GOODS_PROVIDER.to_owned(),
            kind: Kind::TelegramStars { quantity: 100 },
            pricing: Pricing::Fixed(by_currency(&[("RUB", 19_900), ("USD", 249)])),
        },
        GoodsProduct {
            code: "premium-3".to_owned(),
            title: title("Premium на 3 месяца", "Premium for 3 months"),
            provider: GOODS_PROVIDER.to_owned(),
            kind: Kind::TelegramPremium { months: 3 },
            pricing: Pricing::Fixed(by_currency(&[("RUB", 119_900), ("USD", 1_399)])),
        },
    ]
}

fn title(ru: &str, en: &str) -> Title {
    Title {
        ru: ru.to_owned(),
        en: en.to_owned(),
    }
}

fn by_currency(prices: &[(&str, i64)]) -> BTreeMap<Currency, i64> {
    prices
        .iter()
        .filter_map(|(code, minor)| Some((code.parse().ok()?, *minor)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_price_of_the_sample_is_kept() {
        let catalog = sample(&[Uuid::from_u128(2), Uuid::from_u128(1), Uuid::from_u128(2)]);
        assert!(
            catalog
                .plans
                .iter()
                .flat_map(|plan| &plan.versions)
                .all(|version| version.prices.len() == 2)
        );
        assert_eq!(
            catalog.plans[0].versions[0].terms.limits.squads,
            [Uuid::from_u128(1), Uuid::from_u128(2)]
        );
    }
}
