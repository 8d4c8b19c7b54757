//! Values that many tests need. Times are seconds after one fixed moment, ids are numbers.

use uuid::Uuid;

use crate::{
    goods::{Kind, Product},
    ids::PlanVersionId,
    money::{Currency, Money},
    plan::{Limits, Terms},
    time::{Timestamp, plus_seconds},
};

pub(crate) const DAY: i64 = 86_400;

pub(crate) fn at(seconds: i64) -> Timestamp {
    let start = Timestamp::from_timestamp(1_900_000_000, 0).expect("a moment of the calendar");
    plus_seconds(start, seconds).expect("a moment of the calendar")
}

pub(crate) fn id<T: From<Uuid>>(number: u128) -> T {
    Uuid::from_u128(number).into()
}

pub(crate) fn currency(code: &str) -> Currency {
    code.parse().expect("a known currency")
}

pub(crate) fn roubles(minor: i64) -> Money {
    Money::new(minor, currency("RUB")).expect("in range")
}

pub(crate) fn terms(days: i64, grace_days: i64) -> Terms {
    Terms {
        plan_version_id: id::<PlanVersionId>(900),
        plan_code: "standard".to_owned(),
        duration_seconds: days * DAY,
        grace_seconds: grace_days * DAY,
        limits: Limits {
            traffic_bytes: Some(107_374_182_400),
            devices: Some(3),
            squads: vec![Uuid::from_u128(7)],
        },
    }
}

pub(crate) fn stars() -> Product {
    Product {
        code: "stars_100".to_owned(),
        provider: "fragment".to_owned(),
        kind: Kind::TelegramStars { quantity: 100 },
        cost_minor: Some(11_800),
    }
}
