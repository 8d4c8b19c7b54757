//! Stored webhooks, of payment providers and of the panel, that could not be processed at once.

use std::time::Duration;

use super::{PassParts, Running, caller, report};

pub(super) const NAME: &str = "webhook_process";
pub(super) const INTERVAL: Duration = Duration::from_secs(30);
pub(super) const TIMEOUT: Duration = INTERVAL;

const BATCH: i64 = 200;

pub(super) fn run(parts: &PassParts) -> Running<'_> {
    Box::pin(async move {
        let caller = caller(&parts.service, NAME);
        let processed = parts.service.process_due_webhooks(&caller, BATCH).await;
        // The one does not wait for the other: payments first, but hints come to their turn whatever becomes of those.
        let hints = parts.service.process_due_panel_hints(&caller, BATCH).await;
        let mut told = report(processed.map_err(|error| error.code().to_owned())?)?;
        let hints = report(hints.map_err(|error| error.code().to_owned())?)?;
        if let Some(figures) = told.figures.as_object_mut() {
            figures.insert("panelHints".to_owned(), hints.figures);
        }
        let rows = hints.rows.into_iter();
        told.rows
            .extend(rows.map(|(step, count)| (format!("panel_hints_{step}"), count)));
        Ok(told)
    })
}
