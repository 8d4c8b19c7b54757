//! The panel asked this process to slow down: every run waits, not only the one that was told.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

/// Until when nothing is sent to the panel.
#[derive(Clone, Debug, Default)]
pub struct PanelPause(Arc<Mutex<Option<Instant>>>);

impl PanelPause {
    /// Pauses for `span` from now, or longer when that was asked for before.
    pub fn extend(&self, span: Duration) {
        let until = Instant::now() + span;
        let mut paused = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        metrics::gauge!("omniflow_panel_paused").set(1);
        *paused = Some(paused.map_or(until, |earlier| earlier.max(until)));
    }

    /// What is left of the pause.
    pub fn rest(&self) -> Option<Duration> {
        let paused = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let rest = paused
            .map(|until| until.saturating_duration_since(Instant::now()))
            .filter(|rest| !rest.is_zero());
        metrics::gauge!("omniflow_panel_paused").set(u32::from(rest.is_some()));
        rest
    }
}
