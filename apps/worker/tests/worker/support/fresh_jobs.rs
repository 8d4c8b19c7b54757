//! The worker's jobs as another process would run them.

use std::sync::Arc;

use queue::{Failure, FulfillmentArgs, Handler as _, Outcome};
use uuid::Uuid;
use worker::{PanelPause, jobs::FulfillmentJobs};

use super::Stage;

impl Stage {
    /// The jobs of another process: no pause that the panel asked for is remembered.
    pub(crate) fn fresh_jobs(&self) -> FreshJobs {
        FreshJobs(FulfillmentJobs::new(
            self.fulfillment.clone(),
            Arc::new(self.panel.clone()),
            PanelPause::default(),
            Arc::new(self.clock.clone()),
        ))
    }
}

/// See [`Stage::fresh_jobs`].
pub(crate) struct FreshJobs(FulfillmentJobs);

impl FreshJobs {
    /// As [`Stage::run`].
    pub(crate) async fn run_on(&self, stage: &Stage, operation_id: Uuid) -> Result<Outcome, Failure> {
        let run = stage.fetch(operation_id).await;
        let ended = self.0.run(run.clone(), FulfillmentArgs { operation_id }).await;
        stage.settle(&run, &ended).await;
        ended
    }
}
