//! What is for sale, for everybody.

use axum::{Json, extract::State};
use serde::{Deserialize, Serialize};
use service::catalog::{Plan, PlanVersion};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use crate::{ApiState, extract::Search, problem::Problem};

/// In which language.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct CatalogSearch {
    /// `ru` or `en`; anything else reads `ru`.
    locale: Option<String>,
}

/// Plans for sale.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct PlanListOut {
    items: Vec<PlanOut>,
}

/// A plan in the version that is sold now.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct PlanOut {
    code: String,
    title: String,
    /// What an order names.
    plan_version_id: Uuid,
    duration_seconds: i64,
    grace_seconds: i64,
    /// Absent is unlimited.
    #[serde(skip_serializing_if = "Option::is_none")]
    traffic_bytes: Option<i64>,
    /// Absent is unlimited.
    #[serde(skip_serializing_if = "Option::is_none")]
    devices: Option<i32>,
    prices: Vec<PriceOut>,
}

/// A price.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct PriceOut {
    amount_minor: i64,
    currency: String,
}

/// Plans, in the order of the catalog.
#[utoipa::path(get, path = "/v1/catalog/plans", operation_id = "listPlans", tag = "catalog", params(CatalogSearch),
    responses((status = 200, body = PlanListOut)))]
pub(super) async fn plans(
    State(app): State<ApiState>,
    Search(search): Search<CatalogSearch>,
) -> Result<Json<PlanListOut>, Problem> {
    let locale = search.locale.unwrap_or_default();
    let plans = app.service.catalog().plans.iter();
    let items = plans
        .filter_map(|plan| Some(plan_out(plan, plan.versions.last()?, &locale)))
        .collect();
    Ok(Json(PlanListOut { items }))
}

fn plan_out(plan: &Plan, version: &PlanVersion, locale: &str) -> PlanOut {
    let prices = version.prices.iter().map(|(currency, amount_minor)| PriceOut {
        amount_minor: *amount_minor,
        currency: currency.to_string(),
    });
    PlanOut {
        code: plan.code.clone(),
        title: plan.title.of(locale).to_owned(),
        plan_version_id: version.terms.plan_version_id.as_uuid(),
        duration_seconds: version.terms.duration_seconds,
        grace_seconds: version.terms.grace_seconds,
        traffic_bytes: version.terms.limits.traffic_bytes,
        devices: version.terms.limits.devices,
        prices: prices.collect(),
    }
}
