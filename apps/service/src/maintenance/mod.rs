//! Maintenance mode: reading the shared window, opening and closing it by hand, and watching what it depends on.
//!
//! A window blocks two things only: new orders, and writes to the panel. Money that is on its way settles, webhooks are taken in, reads
//! and operators' actions go on, goods are delivered.

mod change;
mod detector;
mod gate;
mod set;

use domain::time::Timestamp;
use serde::Serialize;
use store::maintenance::Maintenance;

use crate::{Error, Refusal, Service};

pub use detector::{Detection, Detector, Sampled};
pub use gate::{Gate, Known};
pub use set::SetMaintenance;
pub use store::maintenance::Flip;

/// What a refused customer may do.
pub(crate) const CLOSED: Refusal = Refusal::new(
    503,
    domain::maintenance::MAINTENANCE_ACTIVE,
    "closed for maintenance; the same request may be repeated later",
);

/// The window, for those who look.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MaintenanceView {
    /// Nothing new is sold, and nothing is written to the panel.
    pub active: bool,
    /// `manual`, `remnawave` or `database`: what opened the window, or closed it last.
    pub source: &'static str,
    /// For operators; may be empty.
    pub reason: String,
    /// For customers, in Russian; empty is the built-in text.
    pub notice_ru: String,
    /// For customers, in English; empty is the built-in text.
    pub notice_en: String,
    /// When it was opened; kept when an open window is changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub activated_at: Option<Timestamp>,
    /// When it is expected to end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected_return_at: Option<Timestamp>,
    /// When one was closed last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cleared_at: Option<Timestamp>,
    /// When anything of it was changed last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<Timestamp>,
}

impl From<Maintenance> for MaintenanceView {
    fn from(known: Maintenance) -> Self {
        Self {
            active: known.window.active,
            source: known.window.source.as_str(),
            reason: known.reason,
            notice_ru: known.notice_ru,
            notice_en: known.notice_en,
            activated_at: known.activated_at,
            expected_return_at: known.expected_return_at,
            cleared_at: known.cleared_at,
            updated_at: known.updated_at,
        }
    }
}

impl Service {
    /// The window as it is now.
    ///
    /// # Errors
    /// A fault of the store.
    pub async fn maintenance(&self) -> Result<MaintenanceView, Error> {
        Ok(store::maintenance::read(self.store.pool()).await?.into())
    }

    /// The newest openings and closings, newest first.
    ///
    /// # Errors
    /// A fault of the store.
    pub async fn maintenance_history(&self, limit: i64) -> Result<Vec<Flip>, Error> {
        Ok(store::maintenance::history(self.store.pool(), limit).await?)
    }
}
