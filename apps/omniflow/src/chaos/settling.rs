//! When each order was settled: fulfilled, delivered, or parked for a person to see.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::{Duration, Instant},
};

use store::summary::{fulfilled_orders, parked_orders, summary};
use uuid::Uuid;

use super::{
    buyers::{Order, What},
    ground::Ground,
};
use crate::failure::Failure;

/// A plan order is stuck after this.
pub(super) const PLAN_LIMIT: Duration = Duration::from_secs(60);
/// A goods order is: a submission may be with the gateway for most of two minutes.
pub(super) const GOODS_LIMIT: Duration = Duration::from_secs(180);
/// Watched for longer than the limits, so that the report tells how late the late ones were.
const WATCHED: u32 = 2;
/// Between two looks.
pub(super) const LOOK: Duration = Duration::from_millis(200);

/// What was seen.
#[derive(Clone, Debug, Default)]
pub(super) struct Settled {
    /// How long each order took from its payment, or from the last blow if that was later.
    took: BTreeMap<Uuid, Duration>,
    pub(super) parked: BTreeSet<Uuid>,
    pub(super) outbox_pending: i64,
}

impl Settled {
    /// Looks who is settled by now. A server that does not answer is asked again a moment later.
    pub(super) async fn look(&mut self, ground: &Ground, orders: &[Order], last_blow: Instant) {
        let Ok((settled, parked, outbox_pending)) = settled(ground).await else {
            return;
        };
        let at = Instant::now();
        for order in orders.iter().filter(|order| settled.contains(&order.id)) {
            let since = order.paid.max(last_blow);
            self.took
                .entry(order.id)
                .or_insert_with(|| at.saturating_duration_since(since));
        }
        (self.parked, self.outbox_pending) = (parked, outbox_pending);
    }

    /// Looks until every order is settled and the outbox is empty, or until nobody would wait any longer.
    pub(super) async fn watch(
        &mut self,
        ground: &mut Ground,
        orders: &[Order],
        last_blow: Instant,
    ) -> Result<(), Failure> {
        loop {
            ground.fleet.tend()?;
            self.look(ground, orders, last_blow).await;
            let mut waiting = orders
                .iter()
                .filter(|order| !self.took.contains_key(&order.id))
                .peekable();
            let done = waiting.peek().is_none();
            let hopeful =
                waiting.any(|order| order.paid.max(last_blow).elapsed() < order.limit().saturating_mul(WATCHED));
            let drained = self.outbox_pending == 0 || last_blow.elapsed() > PLAN_LIMIT;
            if (done && drained) || (!done && !hopeful) {
                return Ok(());
            }
            tokio::time::sleep(LOOK).await;
        }
    }
}

async fn settled(ground: &Ground) -> Result<(BTreeSet<Uuid>, BTreeSet<Uuid>, i64), Failure> {
    let parked: BTreeSet<_> = parked_orders(&ground.pool).await?.into_iter().collect();
    let fulfilled = fulfilled_orders(&ground.pool).await?;
    let settled = fulfilled.into_iter().chain(parked.iter().copied()).collect();
    Ok((settled, parked, summary(&ground.pool).await?.outbox_pending))
}

impl Order {
    fn limit(&self) -> Duration {
        match self.what {
            What::Plan(_) => PLAN_LIMIT,
            What::Goods(_) => GOODS_LIMIT,
        }
    }
}

impl Settled {
    /// The longest that any of these took.
    pub(super) fn longest<'a>(&self, orders: impl Iterator<Item = &'a Order>) -> Duration {
        let took = orders.filter_map(|order| self.took.get(&order.id));
        took.copied().max().unwrap_or_default()
    }

    /// Those that nobody saw settled, however long they were watched.
    pub(super) fn unsettled(&self, orders: &[Order]) -> usize {
        orders.iter().filter(|order| !self.took.contains_key(&order.id)).count()
    }

    /// Those that took longer than they may, or for ever.
    pub(super) fn stuck(&self, orders: &[Order]) -> Vec<Uuid> {
        let late = |order: &&Order| self.took.get(&order.id).is_none_or(|took| *took > order.limit());
        orders.iter().filter(late).map(|order| order.id).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(what: What) -> Order {
        Order {
            id: Uuid::from_u128(rand::random()),
            what,
            paid: Instant::now(),
        }
    }

    #[test]
    fn an_order_is_stuck_when_it_took_longer_than_its_kind_may() {
        let orders = [
            order(What::Plan(Uuid::nil())),
            order(What::Plan(Uuid::nil())),
            order(What::Goods("a".to_owned())),
            order(What::Goods("b".to_owned())),
        ];
        let seconds = [60, 61, 179, 181];
        let mut seen = Settled::default();
        for (order, seconds) in orders.iter().zip(seconds) {
            seen.took.insert(order.id, Duration::from_secs(seconds));
        }
        assert_eq!(seen.stuck(&orders), [orders[1].id, orders[3].id]);
        assert_eq!(seen.longest(orders.iter().take(2)), Duration::from_secs(61));
        let never = order(What::Plan(Uuid::nil()));
        assert_eq!(seen.stuck(std::slice::from_ref(&never)), [never.id]);
        assert_eq!((seen.unsettled(&orders), seen.unsettled(&[never])), (0, 1));
    }
}
