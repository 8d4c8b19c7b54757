//! What a storm came to, by the simulators' journals.

use std::{fmt, time::Duration};

use serde::Serialize;
use store::summary::summary;

use super::{
    buyers::{Buyers, Order, What},
    fleet::Toll,
    ground::Ground,
    plan::Plan,
    settling::{GOODS_LIMIT, PLAN_LIMIT, Settled},
};
use crate::{
    driver::{Verdict, judge},
    failure::Failure,
};

/// What struck.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Count {
    pub(super) fleet: Toll,
    pub(super) server_kills: u32,
    pub(super) cuts: u32,
    pub(super) lost_acks: u32,
    pub(super) panel_faults: u64,
}

/// Figures of one storm. `lost`, `duplicated`, `stuck`, `refused`, `panics` and `slowStops` must be 0.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// Plan orders that were paid for.
    pub orders: usize,
    /// Goods orders that were paid for.
    pub goods: usize,
    /// Paid, no effect in a journal, and not parked.
    pub lost: usize,
    /// More than one user of a subscription, more than one submission of a goods order, more orders in the log than were placed.
    pub duplicated: u64,
    /// Not settled within 60 s (goods 180 s) of their payment and of the last blow.
    pub stuck: usize,
    /// Of these, not settled at all while they were watched: twice as long.
    pub unsettled: usize,
    /// Orders that wait visibly for a person.
    pub parked: usize,
    /// The longest that a plan order took, from its payment or the last blow, whichever was later.
    pub max_settle_seconds: f64,
    /// Of goods orders.
    pub goods_max_settle_seconds: f64,
    /// Buyers that were answered no, or never.
    pub refused: usize,
    /// Outbox rows that nobody handed over.
    pub outbox_pending: i64,
    /// Every read model equals one that is built from the log alone.
    pub verified: bool,
    /// Panics in the logs of the processes.
    pub panics: usize,
    /// SIGKILLs of APIs and workers.
    pub kills: u32,
    /// SIGSTOPs of APIs and workers.
    pub pauses: u32,
    /// SIGTERMs of APIs and workers.
    pub stops: u32,
    /// Processes that did not end within 30 s of a SIGTERM.
    pub slow_stops: u32,
    /// Processes that ended with a complaint after a SIGTERM.
    pub unclean_stops: u32,
    /// Processes that ended by themselves and were started again.
    pub gave_up: u32,
    /// SIGKILLs of the database server.
    pub server_kills: u32,
    /// Times that every connection to the database was cut.
    pub cuts: u32,
    /// Commits whose answer never arrived.
    pub lost_acks: u32,
    /// Requests to panel and gateway that went wrong, or slowly.
    pub panel_faults: u64,
    /// How long the storm lasted.
    pub storm_seconds: f64,
    /// What everything was drawn from.
    pub seed: u64,
    /// The same storm again.
    pub rerun: String,
    /// First reasons of what must not be; empty when all is well.
    pub complaints: Vec<String>,
}

impl Report {
    pub(super) async fn of(
        plan: &Plan,
        ground: &Ground,
        buyers: &Buyers,
        seen: &Settled,
        count: Count,
        storm: Duration,
    ) -> Result<Self, Failure> {
        let orders = &buyers.paid;
        let (plans, goods) = kinds(orders);
        let verdict = judge(&ground.folder, &plans, &goods, &seen.parked)?;
        let stuck = seen.stuck(orders);
        let placed = summary(&ground.pool).await?.placed;
        let asked = i64::from(plan.orders).saturating_add(plan.goods.into());
        let twice_placed = u64::try_from(placed.saturating_sub(asked)).unwrap_or_default();
        let is_plan = |order: &&Order| matches!(order.what, What::Plan(_));
        let toll = count.fleet;
        let mut report = Self {
            orders: plans.len(),
            goods: goods.len(),
            lost: verdict.lost.len(),
            duplicated: duplicated(&verdict).saturating_add(twice_placed),
            stuck: stuck.len(),
            unsettled: seen.unsettled(orders),
            parked: seen.parked.len(),
            max_settle_seconds: seconds(seen.longest(orders.iter().filter(is_plan))),
            goods_max_settle_seconds: seconds(seen.longest(orders.iter().filter(|order| !is_plan(order)))),
            refused: buyers.refused.len(),
            outbox_pending: seen.outbox_pending,
            verified: ground.verified().await?,
            panics: ground.panics(),
            kills: toll.kills,
            pauses: toll.pauses,
            stops: toll.stops,
            slow_stops: toll.slow_stops,
            unclean_stops: toll.unclean_stops,
            gave_up: toll.gave_up,
            server_kills: count.server_kills,
            cuts: count.cuts,
            lost_acks: count.lost_acks,
            panel_faults: count.panel_faults,
            storm_seconds: seconds(storm),
            seed: plan.seed,
            rerun: plan.rerun(),
            complaints: Vec::new(),
        };
        let named = [
            ("lost", &verdict.lost),
            ("duplicated", &verdict.duplicated),
            ("stuck", &stuck),
        ];
        for (name, ids) in named {
            report
                .complaints
                .extend(ids.iter().take(5).map(|id| format!("{name}: order {id}")));
        }
        let refused = buyers.refused.iter().take(5).map(|reason| format!("refused: {reason}"));
        report.complaints.extend(refused);
        Ok(report)
    }

    /// Nothing is lost, doubled, stuck, refused or different; everybody ended in order.
    pub fn good(&self) -> bool {
        self.lost == 0
            && self.duplicated == 0
            && self.stuck == 0
            && self.refused == 0
            && self.outbox_pending == 0
            && self.verified
            && self.panics == 0
            && self.slow_stops == 0
            && self.max_settle_seconds <= PLAN_LIMIT.as_secs_f64()
            && self.goods_max_settle_seconds <= GOODS_LIMIT.as_secs_f64()
    }
}

pub(super) type Plans = Vec<(uuid::Uuid, uuid::Uuid)>;
pub(super) type GoodsOrders = Vec<(uuid::Uuid, String)>;

pub(super) fn kinds(orders: &[Order]) -> (Plans, GoodsOrders) {
    let (mut plans, mut goods) = (Vec::new(), Vec::new());
    for order in orders {
        match &order.what {
            What::Plan(subscription) => plans.push((order.id, *subscription)),
            What::Goods(recipient) => goods.push((order.id, recipient.clone())),
        }
    }
    (plans, goods)
}

fn duplicated(verdict: &Verdict) -> u64 {
    let orders = u64::try_from(verdict.duplicated.len()).unwrap_or(u64::MAX);
    orders.max(verdict.duplicate_users)
}

pub(super) fn seconds(span: Duration) -> f64 {
    (span.as_secs_f64() * 10.0).round() / 10.0
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} orders and {} goods orders through {} kills, {} pauses, {} stops, {} kills of the database server, {} cuts, {} lost \
             acknowledgements and {} faults of panel and gateway in {} s:",
            self.orders,
            self.goods,
            self.kills,
            self.pauses,
            self.stops,
            self.server_kills,
            self.cuts,
            self.lost_acks,
            self.panel_faults,
            self.storm_seconds
        )?;
        writeln!(
            f,
            "lost {} · duplicated {} · stuck {} · refused {} · parked for a person {} · settled after at most {} s (goods {} s) · read models {}",
            self.lost,
            self.duplicated,
            self.stuck,
            self.refused,
            self.parked,
            self.max_settle_seconds,
            self.goods_max_settle_seconds,
            if self.verified {
                "equal the log"
            } else {
                "DIFFER from the log"
            },
        )?;
        for complaint in &self.complaints {
            writeln!(f, "{complaint}")?;
        }
        write!(f, "seed {}; again: {}", self.seed, self.rerun)
    }
}
