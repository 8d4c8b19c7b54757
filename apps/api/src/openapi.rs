//! The OpenAPI document: generated from the handlers, kept as a golden file.

use utoipa::{
    OpenApi,
    openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme},
};
use utoipa_axum::router::OpenApiRouter;

use crate::{ApiState, problem::ProblemOut, routes};

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Omniflow",
        description = "Commerce and provisioning for a Remnawave panel. Failures are RFC 9457 problems: clients branch on the last segment of `type`. \
                       Amounts are whole minor units of a currency.",
        license(name = "Apache-2.0", identifier = "Apache-2.0")
    ),
    components(schemas(ProblemOut)),
    modifiers(&Security)
)]
struct Base;

struct Security;

impl utoipa::Modify for Security {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        let mut bearer = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build();
        bearer.description = Some("The value of APP_OPERATOR_TOKEN.".to_owned());
        let components = document.components.get_or_insert_with(Default::default);
        components.add_security_scheme("operator", SecurityScheme::Http(bearer));
    }
}

/// The document of every route.
pub fn document() -> utoipa::openapi::OpenApi {
    let (_, routes) = OpenApiRouter::<ApiState>::with_openapi(Base::openapi())
        .merge(routes::documented())
        .split_for_parts();
    routes
}
