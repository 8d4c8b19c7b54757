//! Periodic passes: one table. A pass has no input, works in bounded batches, and one failing row never stops its siblings.

mod commerce_maintenance;
mod dead_letter_sweep;
mod fulfillment_revive;
mod goods_delivery_schedule;
mod lease_sweep;
mod payment_reconcile;
mod webhook_process;

use std::{future::Future, pin::Pin, time::Duration};

use serde::Serialize;
use serde_json::Value;
use service::{Caller, Service, delivery::Deliveries, fulfillment::Fulfillment};

/// What passes work with.
#[derive(Clone, Debug)]
pub struct PassParts {
    /// The use cases.
    pub service: Service,
    /// Operations.
    pub fulfillment: Fulfillment,
    /// Goods.
    pub deliveries: Deliveries,
}

/// The report of a run, or the stable code of its failure.
pub type Ended = Result<Value, String>;

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
    pub(crate) run: for<'a> fn(&'a PassParts) -> Running<'a>,
}

/// Every pass of every worker.
pub const TABLE: &[Entry] = &[
    entry(
        fulfillment_revive::NAME,
        fulfillment_revive::INTERVAL,
        fulfillment_revive::TIMEOUT,
        fulfillment_revive::run,
    ),
    entry(
        goods_delivery_schedule::NAME,
        goods_delivery_schedule::INTERVAL,
        goods_delivery_schedule::TIMEOUT,
        goods_delivery_schedule::run,
    ),
    entry(
        dead_letter_sweep::NAME,
        dead_letter_sweep::INTERVAL,
        dead_letter_sweep::TIMEOUT,
        dead_letter_sweep::run,
    ),
    entry(
        lease_sweep::NAME,
        lease_sweep::INTERVAL,
        lease_sweep::TIMEOUT,
        lease_sweep::run,
    ),
    entry(
        commerce_maintenance::NAME,
        commerce_maintenance::INTERVAL,
        commerce_maintenance::TIMEOUT,
        commerce_maintenance::run,
    ),
    entry(
        payment_reconcile::NAME,
        payment_reconcile::INTERVAL,
        payment_reconcile::TIMEOUT,
        payment_reconcile::run,
    ),
    entry(
        webhook_process::NAME,
        webhook_process::INTERVAL,
        webhook_process::TIMEOUT,
        webhook_process::run,
    ),
];

const fn entry(
    name: &'static str,
    interval: Duration,
    timeout: Duration,
    run: for<'a> fn(&'a PassParts) -> Running<'a>,
) -> Entry {
    Entry {
        name,
        interval,
        timeout,
        run,
    }
}

/// The pass of this name.
pub fn find(name: &str) -> Option<&'static Entry> {
    TABLE.iter().find(|entry| entry.name == name)
}

/// A pass acts for nobody but itself; everything one run changes belongs together.
fn caller(service: &Service, name: &str) -> Caller {
    Caller::new(format!("system:{name}"), format!("{name}:{}", service.ids().next()))
}

fn report(report: impl Serialize) -> Ended {
    serde_json::to_value(report).map_err(|_| "report_unwritable".to_owned())
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
            assert_eq!(find(entry.name).map(|found| found.name), Some(entry.name));
        }
    }
}
