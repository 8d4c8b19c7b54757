//! `reconcile`s that nobody's purchase leads to: the pass compares every living entitlement with the panel now and then, and a hint of the
//! panel has one compared at once. Such an operation is a row and a job; it enters the stream only with something to tell.

use std::time::Duration;

use chrono::{DateTime, SecondsFormat, TimeDelta};
use domain::{entitlement::Entitlement, time::Timestamp};
use queue::FulfillmentArgs;
use serde::Serialize;
use store::{
    SideRows, StoreError,
    checks::{self, Checked, Due},
    reconciles::{self, NewReconcile},
};

use super::{Fault, Fulfillment, job_metadata};

/// Within so much time an entitlement is compared once by the pass, however often that runs.
pub const BUCKET: TimeDelta = TimeDelta::minutes(15);

/// How long after its paid end an entitlement is still compared: access that stays open by a hand's change is access given away.
const AFTER_THE_END: TimeDelta = TimeDelta::days(30);

/// What a pass did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UpkeepReport {
    /// Due by the read model.
    pub found: u64,
    /// Got a `reconcile`.
    pub opened: u64,
    /// Needed none after all, or have an operation under way.
    pub skipped: u64,
    /// Could not be handled now.
    pub failed: u64,
}

/// A `reconcile` that somebody wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wish {
    pub(crate) whom: Checked,
    pub(crate) idempotency_key: String,
    pub(crate) correlation_id: String,
    pub(crate) delay: Duration,
    /// The pass notes when it opened one; a hint does not put the pass off.
    pub(crate) of_pass: bool,
}

/// What became of a wish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Granted {
    Opened,
    /// One waits already that will look.
    Waits,
    /// One is running: it may have looked before.
    Runs,
    /// Nothing was ever shown, or nothing is due.
    NothingToShow,
    /// It was opened before under the same key.
    Before,
}

impl Fulfillment {
    /// Opens a `reconcile` for at most `limit` entitlements that were not compared within the present quarter of an hour. Whatever stands in
    /// one's way does not stop the others.
    ///
    /// # Errors
    /// [`Fault`] when the entitlements cannot be listed.
    pub async fn reconcile_due(&self, limit: i64) -> Result<UpkeepReport, Fault> {
        let now = self.clock.now();
        let bucket = bucket_of(now);
        let due = Due {
            now,
            // The bucket's own begin, not a quarter of an hour before now: a pass that starts a little early must not skip everybody.
            not_since: bucket - TimeDelta::microseconds(1),
            ended_after: now - AFTER_THE_END,
            limit,
        };
        let named = bucket.to_rfc3339_opts(SecondsFormat::Secs, true);
        let mut report = UpkeepReport::default();
        for whom in checks::due(self.store.pool(), due).await? {
            report.found = report.found.saturating_add(1);
            let wish = Wish {
                whom,
                idempotency_key: format!("reconcile:{}:{named}", whom.entitlement_id),
                correlation_id: format!("scheduler:{named}"),
                delay: Duration::ZERO,
                of_pass: true,
            };
            let count = match self.grant(&wish, now).await {
                Ok(Granted::Opened) => &mut report.opened,
                Ok(_) => &mut report.skipped,
                Err(fault) => {
                    tracing::warn!(entitlement_id = %whom.entitlement_id, code = fault.code(), "an entitlement is not compared");
                    &mut report.failed
                }
            };
            *count = count.saturating_add(1);
        }
        Ok(report)
    }

    /// Opens what is wished for, unless there is no need of it.
    pub(crate) async fn grant(&self, wish: &Wish, now: Timestamp) -> Result<Granted, Fault> {
        let granted = match self.due_version(wish, now).await {
            Ok(Some(version)) => self.open_upkeep(wish, version, now).await,
            Ok(None) => Ok(Granted::NothingToShow),
            Err(fault) => Err(fault),
        };
        // Who cannot be compared goes to the end of the line.
        let told =
            matches!(granted, Ok(Granted::NothingToShow)) || granted.as_ref().is_err_and(|fault| !fault.is_passing());
        if wish.of_pass && told {
            let mut conn = self.store.pool().acquire().await.map_err(StoreError::from)?;
            checks::tried_in(&mut conn, wish.whom, now).await?;
        }
        granted
    }

    /// What must be shown now, of an entitlement that was shown before.
    async fn due_version(&self, wish: &Wish, now: Timestamp) -> Result<Option<i64>, Fault> {
        let state = self.store.fold::<Entitlement>(wish.whom.entitlement_id).await?.state;
        let desired = state.desired_at(now).filter(|_| state.applied_version > 0);
        Ok(desired.map(|desired| desired.version))
    }

    async fn open_upkeep(&self, wish: &Wish, version: i64, now: Timestamp) -> Result<Granted, Fault> {
        let operation_id = self.ids.next();
        let mut rows = SideRows::begin(self.store.pool()).await?;
        let under_way = reconciles::under_way_in(rows.conn(), wish.whom.subscription_id, now).await?;
        if under_way.waits || under_way.runs {
            rows.rollback().await;
            return Ok(if under_way.waits { Granted::Waits } else { Granted::Runs });
        }
        let row = NewReconcile {
            operation_id,
            entitlement_id: wish.whom.entitlement_id,
            subscription_id: wish.whom.subscription_id,
            version,
            idempotency_key: wish.idempotency_key.clone(),
            correlation_id: wish.correlation_id.clone(),
            delay: wish.delay,
        };
        let opened = reconciles::offer_in(rows.conn(), &row).await?;
        if wish.of_pass {
            checks::tried_in(rows.conn(), wish.whom, now).await?;
        }
        if opened {
            let metadata = job_metadata(&wish.correlation_id);
            self.queue
                .insert_after_in(rows.conn(), &FulfillmentArgs { operation_id }, &metadata, wish.delay)
                .await?
                .expect_new()?;
        }
        fail::fail_point!("reconcile.before_commit");
        rows.commit().await?;
        Ok(if opened { Granted::Opened } else { Granted::Before })
    }
}

/// Begin of the quarter of an hour that `now` is in.
fn bucket_of(now: Timestamp) -> Timestamp {
    let seconds = now.timestamp();
    let begin = seconds.saturating_sub(seconds.rem_euclid(BUCKET.num_seconds()));
    DateTime::from_timestamp(begin, 0).unwrap_or(now)
}
