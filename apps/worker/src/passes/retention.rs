//! Disposable rows whose time is over are removed.

use std::time::Duration;

use super::{PassParts, Report, Running, report};

pub(super) const NAME: &str = "retention";
pub(super) const INTERVAL: Duration = Duration::from_hours(1);
pub(super) const TIMEOUT: Duration = INTERVAL;

pub(super) fn run(parts: &PassParts) -> Running<'_> {
    Box::pin(async move {
        let swept = parts.service.sweep_retention(&parts.settings.keep).await;
        let swept = swept.map_err(|error| error.code().to_owned())?;
        let rows = swept.tables.iter().map(|(table, rows)| ((*table).to_owned(), *rows));
        Ok(Report {
            rows: rows.collect(),
            ..report(&swept)?
        })
    })
}
