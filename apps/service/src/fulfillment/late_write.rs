//! A request that may land late would undo a newer push: the panel is converged once more, by one open `reconcile` per subscription.

use std::time::Duration;

use domain::entitlement::{self, Entitlement, OpenOperation};
use queue::FulfillmentArgs;
use store::{
    OpenUnitOfWork,
    reconciles::{self, NewReconcile},
};
use uuid::Uuid;

use super::{Fault, Fulfillment, close::Case, close::refused, job_metadata, streams};

/// A `reconcile` that is wanted.
pub(super) struct Wanted {
    pub(super) operation_id: Uuid,
    pub(super) entitlement_id: Uuid,
    pub(super) subscription_id: Uuid,
    pub(super) correlation_id: String,
    pub(super) delay: Duration,
}

impl Wanted {
    pub(super) fn after(case: &Case, operation_id: Uuid, delay: Duration) -> Self {
        Self {
            operation_id,
            entitlement_id: case.entitlement_id,
            subscription_id: case.subscription_id,
            correlation_id: case.correlation_id.clone(),
            delay,
        }
    }
}

impl Fulfillment {
    /// Opens a `reconcile` of its own; `false` when one is open already.
    pub(super) async fn open_reconcile(&self, wanted: &Wanted) -> Result<bool, Fault> {
        let metadata = self.metadata(wanted.operation_id, &wanted.correlation_id);
        let uow = self.store.load(&streams(wanted.entitlement_id, None), metadata).await?;
        let mut open = uow.begin().await?;
        let opened = self.open_reconcile_in(&mut open, wanted).await?;
        if opened {
            open.commit().await?;
        } else {
            open.rollback().await;
        }
        Ok(opened)
    }

    /// As part of a unit of work that loaded the entitlement: event, row and job.
    pub(super) async fn open_reconcile_in(&self, open: &mut OpenUnitOfWork, wanted: &Wanted) -> Result<bool, Fault> {
        if reconciles::is_open_in(open.conn(), wanted.subscription_id).await? {
            return Ok(false);
        }
        let idempotency_key = format!("reconcile:{}:{}", wanted.entitlement_id, wanted.operation_id);
        let operation = OpenOperation {
            operation_id: wanted.operation_id.into(),
            idempotency_key: idempotency_key.clone(),
            correlation_id: wanted.correlation_id.clone(),
        };
        let command = entitlement::Command::OpenReconcile {
            operation,
            at: self.clock.now(),
        };
        let events = open
            .execute::<Entitlement>(wanted.entitlement_id, command)
            .map_err(refused)?;
        let Some(entitlement::Event::OperationOpened { version, .. }) = events.first() else {
            return Ok(false);
        };
        let row = NewReconcile {
            operation_id: wanted.operation_id,
            entitlement_id: wanted.entitlement_id,
            subscription_id: wanted.subscription_id,
            version: *version,
            idempotency_key,
            correlation_id: wanted.correlation_id.clone(),
            delay: wanted.delay,
        };
        reconciles::insert_in(open.conn(), &row).await?;
        let args = FulfillmentArgs {
            operation_id: wanted.operation_id,
        };
        let metadata = job_metadata(&wanted.correlation_id);
        self.queue
            .insert_after_in(open.conn(), &args, &metadata, wanted.delay)
            .await?
            .expect_new()?;
        Ok(true)
    }
}
