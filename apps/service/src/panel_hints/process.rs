//! A stored hint becomes a look at the panel: one `reconcile` of the user that it names, if that is one of ours and none will look anyway.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use store::{
    StoreError,
    checks::{self, Checked, Progress},
    panel_hints::{self, HintRow},
    reconciles, webhooks,
};

use crate::{
    Caller, Error, Service,
    fulfillment::{BUCKET, Fulfillment, Granted, Wish},
    operators::no_queue,
};

/// A look is taken so much later: what the panel tells in one breath becomes one look, and so does the echo of what we changed ourselves.
const GATHER: Duration = Duration::from_secs(3);

/// Wait for a run that may have looked before the hint came in.
const AFTER_THE_RUN: Duration = Duration::from_secs(5);

/// No further look is opened while so many wait: a change of every user of the panel must not stand before those who have paid.
const AT_ONCE: i64 = 200;

/// Wait for some of those to end.
const FLOODED: Duration = Duration::from_secs(30);

/// What became of a hint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HintOutcome {
    /// The panel will be looked at.
    Opened,
    /// It would have been, or was, anyway.
    Coalesced,
    /// It is about nobody of ours, or about nothing that is compared.
    Ignored,
    /// It came before.
    Duplicate,
    /// It is of another time.
    Stale,
    /// It cannot be read.
    Malformed,
    /// It is stored, and acted upon later.
    Deferred,
}

impl HintOutcome {
    /// The wire's word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Opened => "opened",
            Self::Coalesced => "coalesced",
            Self::Ignored => "ignored",
            Self::Duplicate => "duplicate",
            Self::Stale => "stale",
            Self::Malformed => "malformed",
            Self::Deferred => "deferred",
        }
    }
}

/// What a pass did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HintReport {
    /// Hints that reached an end.
    pub processed: u64,
    /// Hints that wait for something.
    pub deferred: u64,
    /// Hints that will be tried again.
    pub failed: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Told {
    remote_user_id: Option<i64>,
}

impl Service {
    /// Acts upon one stored hint. Safe to do twice.
    ///
    /// # Errors
    /// `jobs_unavailable` without a queue, or a fault. The hint stays due.
    pub async fn process_panel_hint(&self, caller: &Caller, id: i64) -> Result<HintOutcome, Error> {
        let Some(row) = panel_hints::waiting(self.store.pool(), id).await? else {
            return Ok(HintOutcome::Duplicate);
        };
        let outcome = match self.look_for(caller, &row).await {
            Ok(outcome) => outcome,
            Err(error) => {
                webhooks::finish(self.store.pool(), id, "failed", Some(error.code())).await?;
                return Err(error);
            }
        };
        let (status, code) = match outcome {
            Acted::Opened | Acted::Coalesced => ("processed", None),
            Acted::Ignored(code) => ("ignored", Some(code)),
            Acted::Later(delay) => {
                panel_hints::defer(self.store.pool(), id, delay).await?;
                return Ok(HintOutcome::Deferred);
            }
        };
        webhooks::finish(self.store.pool(), id, status, code).await?;
        Ok(match outcome {
            Acted::Opened => HintOutcome::Opened,
            Acted::Coalesced | Acted::Later(_) => HintOutcome::Coalesced,
            Acted::Ignored(_) => HintOutcome::Ignored,
        })
    }

    /// Acts upon hints that are due, at most `limit`. One that fails does not stop the others.
    ///
    /// # Errors
    /// Only when the due ones cannot be listed.
    pub async fn process_due_panel_hints(&self, caller: &Caller, limit: i64) -> Result<HintReport, Error> {
        let mut report = HintReport::default();
        for id in panel_hints::claim_due(self.store.pool(), limit).await? {
            let count = match self.process_panel_hint(caller, id).await {
                Ok(HintOutcome::Deferred) => &mut report.deferred,
                Ok(_) => &mut report.processed,
                Err(error) => {
                    tracing::info!(id, code = error.code(), "a hint of the panel was not acted upon");
                    &mut report.failed
                }
            };
            *count = count.saturating_add(1);
        }
        Ok(report)
    }

    async fn look_for(&self, caller: &Caller, row: &HintRow) -> Result<Acted, Error> {
        let Some(remote_user_id) = Told::deserialize(&row.hint).ok().and_then(|told| told.remote_user_id) else {
            return Ok(Acted::Ignored("no_user"));
        };
        let now = self.clock.now();
        let Some(progress) = checks::of_remote_user(self.store.pool(), remote_user_id).await? else {
            return Ok(Acted::Ignored("not_ours"));
        };
        let Progress {
            entitlement_id,
            subscription_id,
            observed_at,
            tried_at,
        } = progress;
        // Somebody has to mend it first; the next comparison would fail as the last one did.
        if tried_at.is_some_and(|tried_at| tried_at > now + BUCKET) {
            return Ok(Acted::Ignored("put_off"));
        }
        // A look that began after the hint came in has seen whatever it is about.
        if observed_at.is_some_and(|observed_at| observed_at >= row.received_at) {
            return Ok(Acted::Coalesced);
        }
        let wish = Wish {
            whom: Checked {
                entitlement_id,
                subscription_id,
            },
            idempotency_key: format!("reconcile:{entitlement_id}:hint:{}", row.id),
            correlation_id: caller.correlation_id.clone(),
            delay: GATHER,
            of_pass: false,
        };
        if self.is_flooded().await? {
            return Ok(Acted::Later(FLOODED));
        }
        let queue = self.queue.clone().ok_or_else(no_queue)?;
        let fulfillment = Fulfillment::new(self.store.clone(), queue, self.clock.clone(), self.ids.clone());
        Ok(match fulfillment.grant(&wish, now).await? {
            Granted::Opened => Acted::Opened,
            Granted::Waits | Granted::Before => Acted::Coalesced,
            Granted::Runs => Acted::Later(AFTER_THE_RUN),
            Granted::NothingToShow => Acted::Ignored("nothing_to_show"),
        })
    }

    async fn is_flooded(&self) -> Result<bool, Error> {
        let mut conn = self.store.pool().acquire().await.map_err(StoreError::from)?;
        Ok(reconciles::open_count_in(&mut conn, AT_ONCE).await? >= AT_ONCE)
    }
}

enum Acted {
    Opened,
    Coalesced,
    /// With the reason.
    Ignored(&'static str),
    Later(Duration),
}
