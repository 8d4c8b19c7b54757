//! One change of the window with what it owes: the history row and the operators' notice of a real flip, all in one transaction.

use domain::{
    maintenance::{Announcement, Source},
    time::Timestamp,
};
use serde_json::json;
use store::{
    SideRows,
    audit::{self, Category, Target},
    maintenance::{Change, Maintenance, change_in, note_in},
};

use crate::{Caller, Error, Service, notices::INCIDENT};

/// Whoever opened or closed it, how it is to be, and what is said.
pub(super) struct Wanted<'a> {
    pub(super) active: bool,
    pub(super) source: Source,
    pub(super) announcement: &'a Announcement,
    /// `None` is the system.
    pub(super) by: Option<Person<'a>>,
    pub(super) at: Timestamp,
}

/// A person, as the request says and as the door knows.
#[derive(Clone, Copy)]
pub(super) struct Person<'a> {
    pub(super) operator_id: &'a str,
    pub(super) caller: &'a Caller,
}

impl Service {
    /// Writes the change, provided that the window is still as it was read: of two replicas that decide the same, one writes.
    ///
    /// # Errors
    /// A fault of the store; after [`store::StoreError::CommitUnknown`] read the window again.
    pub(super) async fn change_window(&self, read: &Maintenance, wanted: &Wanted<'_>) -> Result<bool, Error> {
        let reason = wanted.announcement.reason();
        let flips = read.window.active != wanted.active;
        let mut rows = SideRows::begin(self.store.pool()).await?;
        let change = Change {
            expected: read.window.version,
            active: wanted.active,
            source: wanted.source,
            announcement: wanted.announcement,
            at: wanted.at,
        };
        if !change_in(rows.conn(), change).await? {
            rows.rollback().await;
            return Ok(false);
        }
        if flips {
            let told = (wanted.active, wanted.source, reason);
            note_in(rows.conn(), told, wanted.by.map(|by| by.operator_id), wanted.at).await?;
            let action = action(wanted.active);
            let minute = wanted.at.timestamp().div_euclid(60);
            let payload = json!({ "status": action, "source": wanted.source.as_str(), "reason": reason });
            let key = format!("maintenance:{action}:{minute}");
            store::notices::insert_in(rows.conn(), INCIDENT, &key, &payload).await?;
        }
        if let Some(by) = wanted.by {
            let action = if flips { audited(wanted.active) } else { CHANGED };
            let facts = json!({ "operatorId": by.operator_id, "before": read.window.source.as_str() });
            let target = Target {
                kind: "maintenance",
                id: "window",
            };
            let entry = by.caller.audit(action, Category::System, target, facts, wanted.at);
            audit::record_in(rows.conn(), entry).await?;
        }
        fail::fail_point!("maintenance.before_commit", |_| Err(Error::InProgress));
        rows.commit().await?;
        fail::fail_point!("maintenance.after_commit", |_| Err(Error::InProgress));
        self.gate.forget().await;
        if flips {
            tracing::warn!(
                active = wanted.active,
                source = wanted.source.as_str(),
                reason,
                "maintenance mode changed"
            );
        }
        gauge(wanted.active);
        Ok(true)
    }
}

/// The words of an open window were changed.
const CHANGED: &str = "panel.maintenance.changed";

const fn action(active: bool) -> &'static str {
    if active { "activated" } else { "cleared" }
}

const fn audited(active: bool) -> &'static str {
    if active {
        "panel.maintenance.activated"
    } else {
        "panel.maintenance.cleared"
    }
}

/// What this process last knew of the window.
pub(super) fn gauge(active: bool) {
    metrics::gauge!("omniflow_maintenance_mode").set(if active { 1.0 } else { 0.0 });
}
