//! A request that the panel carries out late, when a newer one was carried out already.

use std::time::Duration;

use domain::time::Timestamp;
use omniflow::driver::Bought;
use ports::ids::{Ids as _, SystemIds};
use sandbox::faults::{Fault, FaultRule, SimulatorName};
use tokio::time::Instant;
use uuid::Uuid;

use crate::fire::{
    installation::{Installation, PLAN},
    panel,
};

struct Customer {
    id: Uuid,
    entitlement: Uuid,
    subscription: Uuid,
}

async fn subscribe(installation: &Installation) -> Customer {
    let (id, shop) = (SystemIds.next(), installation.shop());
    let order = shop.buy_plan(SystemIds.next(), id, PLAN).await.expect("placed");
    installation.pay(&order).await;
    Customer {
        id,
        entitlement: order.entitlement_id.expect("of a plan"),
        subscription: order.subscription_id.expect("of a plan"),
    }
}

async fn extend(installation: &Installation, customer: &Customer) -> Bought {
    let key = SystemIds.next();
    let placed = installation
        .shop()
        .extend(key, customer.id, PLAN, customer.entitlement)
        .await;
    let order = placed.expect("placed");
    installation.pay(&order).await;
    order
}

/// Waits until the n-th fault met a request.
async fn fired(installation: &Installation, rule: usize) {
    let (control, deadline) = (installation.control(), Instant::now() + Duration::from_secs(30));
    while control
        .faults()
        .await
        .expect("answered")
        .get(rule)
        .is_none_or(|counts| counts.fired == 0)
    {
        assert!(Instant::now() < deadline, "the request was not sent");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

fn late(ms: u64) -> FaultRule {
    FaultRule::new(SimulatorName::Panel, "PATCH /api/users", Fault::slow(ms)).at_most(1)
}

/// The older change was carried out after the newer one.
fn went_back(expiries: &[Timestamp]) -> bool {
    expiries.windows(2).any(|pair| pair[1] < pair[0])
}

/// Waits until the panel shows the newest state and no late request is left.
async fn converged(
    installation: &Installation,
    customer: &Customer,
    since: Instant,
    quiet: Duration,
) -> Vec<Timestamp> {
    let wanted = panel::newest_expiry(&installation.pool, customer.subscription).await;
    loop {
        let expiries = panel::expiries(installation.path(), customer.subscription);
        let newest = expiries.last().is_some_and(|last| panel::same(*last, wanted));
        if newest && since.elapsed() > quiet {
            return expiries;
        }
        assert!(
            since.elapsed() < Duration::from_secs(150),
            "the panel shows {expiries:?}, not {wanted}"
        );
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

pub(crate) async fn the_panel_ends_with_the_newest_state_whatever_lands_late() {
    let installation = Installation::start().await;
    let killed = installation.worker();
    let (of_killed, of_slow) = (subscribe(&installation).await, subscribe(&installation).await);
    installation.settle(2, Duration::from_secs(30)).await;

    // The writer is killed after sending; its request lands when others have written the newer state, and only the guarding
    // reconcile can repair that.
    let control = installation.control();
    control.set_faults(&[late(55_000)]).await.expect("set");
    extend(&installation, &of_killed).await;
    fired(&installation, 0).await;
    let killed_at = Instant::now();
    killed.kill();
    extend(&installation, &of_killed).await;
    let _workers = [installation.worker(), installation.worker()];

    // Two workers, and a first call that its writer gives up on before it lands.
    control.add_faults(&[late(18_000)]).await.expect("set");
    extend(&installation, &of_slow).await;
    fired(&installation, 1).await;
    let sent_at = Instant::now();
    extend(&installation, &of_slow).await;

    converged(&installation, &of_slow, sent_at, Duration::from_secs(19)).await;
    eprintln!("slow call: converged after {:.1} s", sent_at.elapsed().as_secs_f64());
    let expiries = converged(&installation, &of_killed, killed_at, Duration::from_secs(56)).await;
    eprintln!(
        "killed writer: converged after {:.1} s",
        killed_at.elapsed().as_secs_f64()
    );
    assert!(
        went_back(&expiries),
        "the late request did not land late, so nothing was shown: {expiries:?}"
    );
    let (_, summary, parked) = installation.settle(6, Duration::from_secs(30)).await;
    assert_eq!((summary.fulfilled, parked.len()), (6, 0), "{summary:?}");
    // Whatever came of it on the way, it stays so.
    converged(&installation, &of_slow, sent_at, Duration::ZERO).await;
    installation.verify();
}
