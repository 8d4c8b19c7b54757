//! The catalog as it stands in its file.

use std::collections::BTreeMap;

use serde::Deserialize;
use uuid::Uuid;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FileIn {
    #[serde(default)]
    pub(super) plans: Vec<PlanIn>,
    #[serde(default)]
    pub(super) goods: Vec<GoodsIn>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PlanIn {
    pub(super) code: String,
    pub(super) title: TitleIn,
    pub(super) versions: Vec<VersionIn>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TitleIn {
    pub(super) ru: String,
    pub(super) en: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct VersionIn {
    pub(super) id: Uuid,
    pub(super) duration_seconds: i64,
    #[serde(default)]
    pub(super) grace_seconds: i64,
    pub(super) traffic_bytes: Option<i64>,
    pub(super) devices: Option<i32>,
    pub(super) squads: Vec<Uuid>,
    pub(super) prices: BTreeMap<String, i64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GoodsIn {
    pub(super) code: String,
    pub(super) title: TitleIn,
    pub(super) provider: String,
    pub(super) stars: Option<i64>,
    pub(super) premium_months: Option<i32>,
    pub(super) prices: Option<BTreeMap<String, i64>>,
    pub(super) markup_basis_points: Option<u32>,
    #[serde(default)]
    pub(super) currencies: Vec<String>,
}
