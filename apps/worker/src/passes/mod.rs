//! Periodic passes: one table. A pass has no input, works in bounded batches, and one failing row never stops its siblings.

mod commerce_maintenance;
mod dead_letter_sweep;
mod fulfillment_reconcile;
mod fulfillment_revive;
mod goods_delivery_schedule;
mod lease_sweep;
mod payment_reconcile;
mod retention;
mod run;
mod webhook_process;

use std::{future::Future, pin::Pin, sync::Arc, time::Duration};

use queue::QueueError;
pub(crate) use run::unix_seconds;
pub use run::{Asked, Ran, run};
use serde::Serialize;
use serde_json::Value;
use service::{
    Caller, Service,
    delivery::{Deliveries, SpendCeiling},
    fulfillment::Fulfillment,
};
use store::retention::Keep;

/// What passes work with.
#[derive(Clone, Debug)]
pub struct PassParts {
    /// The use cases.
    pub service: Service,
    /// Operations.
    pub fulfillment: Fulfillment,
    /// Goods.
    pub deliveries: Deliveries,
    /// What an installation may choose.
    pub settings: PassSettings,
    /// Names this process in the ledger of runs.
    pub runner: String,
}

impl PassParts {
    /// Over the use cases.
    ///
    /// # Errors
    /// [`QueueError::Configuration`] when they have no client of the queue.
    pub fn new(
        service: &Service,
        ceiling: Option<SpendCeiling>,
        settings: PassSettings,
        runner: impl Into<String>,
    ) -> Result<Self, QueueError> {
        let queue = service
            .queue()
            .ok_or_else(|| QueueError::Configuration("passes need a client of the queue".to_owned()))?;
        let (store, clock, ids) = (service.store().clone(), service.clock(), service.ids());
        let fulfillment = Fulfillment::new(store.clone(), queue.clone(), Arc::clone(clock), Arc::clone(ids));
        let deliveries = Deliveries::new(store, queue.clone(), Arc::clone(clock), service.goods().clone());
        Ok(Self {
            service: service.clone(),
            fulfillment,
            deliveries: deliveries.with_ceiling(ceiling),
            settings,
            runner: runner.into(),
        })
    }
}

/// What an installation may choose about its passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PassSettings {
    /// From one start of `retention` to the next.
    pub retention_every: Duration,
    /// How long it keeps what.
    pub keep: Keep,
}

impl Default for PassSettings {
    fn default() -> Self {
        Self {
            retention_every: retention::INTERVAL,
            keep: Keep::default(),
        }
    }
}

/// What a run did.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// Its figures, as the ledger keeps them.
    pub figures: Value,
    /// Rows it dealt with, by step: what metrics count.
    pub rows: Vec<(String, u64)>,
}

/// The report of a run, or the stable code of its failure.
pub type Ended = Result<Report, String>;

/// A run that is under way.
pub type Running<'a> = Pin<Box<dyn Future<Output = Ended> + Send + 'a>>;

/// One pass.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The `task` of its jobs.
    pub name: &'static str,
    /// From start to start.
    pub interval: Duration,
    /// A run is ended after this.
    pub timeout: Duration,
    run: for<'a> fn(&'a PassParts) -> Running<'a>,
}

impl Entry {
    /// A pass.
    pub const fn new(
        name: &'static str,
        interval: Duration,
        timeout: Duration,
        run: for<'a> fn(&'a PassParts) -> Running<'a>,
    ) -> Self {
        Self {
            name,
            interval,
            timeout,
            run,
        }
    }
}

/// Every pass of every worker, with the intervals it has where nobody chose another.
pub const TABLE: &[Entry] = &[
    Entry::new(
        fulfillment_reconcile::NAME,
        fulfillment_reconcile::INTERVAL,
        fulfillment_reconcile::TIMEOUT,
        fulfillment_reconcile::run,
    ),
    Entry::new(
        fulfillment_revive::NAME,
        fulfillment_revive::INTERVAL,
        fulfillment_revive::TIMEOUT,
        fulfillment_revive::run,
    ),
    Entry::new(
        goods_delivery_schedule::NAME,
        goods_delivery_schedule::INTERVAL,
        goods_delivery_schedule::TIMEOUT,
        goods_delivery_schedule::run,
    ),
    Entry::new(
        dead_letter_sweep::NAME,
        dead_letter_sweep::INTERVAL,
        dead_letter_sweep::TIMEOUT,
        dead_letter_sweep::run,
    ),
    Entry::new(
        lease_sweep::NAME,
        lease_sweep::INTERVAL,
        lease_sweep::TIMEOUT,
        lease_sweep::run,
    ),
    Entry::new(
        commerce_maintenance::NAME,
        commerce_maintenance::INTERVAL,
        commerce_maintenance::TIMEOUT,
        commerce_maintenance::run,
    ),
    Entry::new(
        payment_reconcile::NAME,
        payment_reconcile::INTERVAL,
        payment_reconcile::TIMEOUT,
        payment_reconcile::run,
    ),
    Entry::new(
        webhook_process::NAME,
        webhook_process::INTERVAL,
        webhook_process::TIMEOUT,
        webhook_process::run,
    ),
    Entry::new(retention::NAME, retention::INTERVAL, retention::TIMEOUT, retention::run),
];

/// Every pass, as this installation runs it.
pub fn table(settings: &PassSettings) -> Vec<Entry> {
    let chosen = |entry: &Entry| match entry.name {
        retention::NAME => Entry {
            interval: settings.retention_every,
            timeout: settings.retention_every,
            ..*entry
        },
        _ => *entry,
    };
    TABLE.iter().map(chosen).collect()
}

/// The pass of this name, as this installation runs it.
pub fn find(name: &str, settings: &PassSettings) -> Option<Entry> {
    table(settings).into_iter().find(|entry| entry.name == name)
}

/// A pass acts for nobody but itself; everything one run changes belongs together.
fn caller(service: &Service, name: &str) -> Caller {
    Caller::new(format!("system:{name}"), format!("{name}:{}", service.ids().next()))
}

/// A report whose counts are its rows.
fn report(report: impl Serialize) -> Ended {
    let figures = serde_json::to_value(report).map_err(|_| "report_unwritable".to_owned())?;
    let rows = figures
        .as_object()
        .into_iter()
        .flatten()
        .filter_map(|(step, count)| Some((step.clone(), count.as_u64()?)))
        .collect();
    Ok(Report { figures, rows })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_are_unique_and_no_run_outlasts_its_interval() {
        let names: BTreeSet<_> = TABLE.iter().map(|entry| entry.name).collect();
        assert_eq!(names.len(), TABLE.len());
        for entry in TABLE {
            assert!(entry.timeout <= entry.interval, "{}", entry.name);
            let found = find(entry.name, &PassSettings::default());
            assert_eq!(
                found.map(|found| (found.name, found.interval)),
                Some((entry.name, entry.interval))
            );
        }
    }

    #[test]
    fn the_interval_of_retention_is_chosen() {
        let settings = PassSettings {
            retention_every: Duration::from_hours(6),
            ..PassSettings::default()
        };
        let found = find(retention::NAME, &settings).unwrap();
        assert_eq!(
            (found.interval, found.timeout),
            (Duration::from_hours(6), Duration::from_hours(6))
        );
    }
}
