//! What handlers work with.

use std::sync::Arc;

use secrets::Secret;
use service::Service;
use telemetry::Metrics;

use crate::health::Health;

/// Shared by all requests; cheap to clone.
#[derive(Clone)]
pub struct ApiState {
    pub(crate) service: Service,
    pub(crate) operator_token: Arc<Secret>,
    pub(crate) health: Health,
    pub(crate) metrics: Option<Metrics>,
}

impl std::fmt::Debug for ApiState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ApiState").finish_non_exhaustive()
    }
}

impl ApiState {
    /// Over the use cases. An empty operator token refuses every operator. Without `metrics` there is no `/metrics`.
    pub fn new(service: Service, operator_token: Secret, health: Health, metrics: Option<Metrics>) -> Self {
        Self {
            service,
            operator_token: Arc::new(operator_token),
            health,
            metrics,
        }
    }
}
