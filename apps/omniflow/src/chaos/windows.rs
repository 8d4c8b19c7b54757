//! The two windows in which a crash leaves a goods submission without a known outcome: the gateway has the request and did not deliver, and it
//! delivered but nobody wrote that down. A worker is killed in each, an order at a time.

use std::{
    collections::BTreeSet,
    fmt,
    sync::Arc,
    time::{Duration, Instant},
};

use sandbox::{
    control::Client,
    faults::{Fault, FaultAnswer, FaultRule, SimulatorName},
};
use serde::Serialize;

use super::{
    buyers::{Buyers, Wish},
    fleet::Role,
    ground::Ground,
    report::{kinds, seconds},
    settling::Settled,
};
use crate::{driver::judge, failure::Failure};

/// The gateway holds the request for longer than a kill takes.
const HELD_MS: u64 = 5_000;
const PATIENCE: Duration = Duration::from_secs(90);
const LOOK: Duration = Duration::from_millis(10);

/// What came of the crashes. All is well when every order waits for a person, and the gateway delivered only what it had delivered before.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WindowsReport {
    /// Crashes before the gateway delivered.
    pub undelivered_crashes: u32,
    /// Crashes after the gateway delivered, before that was recorded.
    pub delivered_crashes: u32,
    /// Orders that wait for a person.
    pub parked: usize,
    /// Submissions that the gateway carried out.
    pub submissions: u64,
    /// Orders with more than one submission.
    pub duplicated: usize,
    /// Orders that nobody can see.
    pub lost: usize,
    /// Not parked within 180 s of the last crash.
    pub stuck: usize,
    /// The longest that an order took from the last crash.
    pub goods_max_settle_seconds: f64,
}

impl WindowsReport {
    /// At most one submission an order, and as many parked orders as crashes.
    pub fn good(&self) -> bool {
        let crashes = self.undelivered_crashes.saturating_add(self.delivered_crashes);
        self.duplicated == 0
            && self.lost == 0
            && self.stuck == 0
            && self.submissions == u64::from(self.delivered_crashes)
            && u32::try_from(self.parked).is_ok_and(|parked| parked == crashes)
    }
}

/// Crashes so often in each window, waits, judges.
pub(super) async fn play(crashes: u32, ground: &mut Ground) -> Result<WindowsReport, Failure> {
    let mut buyers = Buyers::new(ground.shops()?, Arc::new(Client::of(&ground.folder)?));
    for (window, fault) in [
        ("undelivered", undelivered()),
        ("delivered", Fault::late_answer(HELD_MS)),
    ] {
        for number in 0..crashes {
            let rule = FaultRule::new(SimulatorName::Goods, "POST /**", fault.clone()).at_most(1);
            ground.control.set_faults(&[rule]).await?;
            buyers.come(number, Wish::Goods(format!("{window}_{number:05}")));
            held(ground, &mut buyers).await?;
            if !ground.fleet.kill(Role::Worker, 0)? {
                return Err(Failure::unavailable("no worker runs: nobody crashes in the window"));
            }
        }
    }
    let last_crash = Instant::now();
    ground.control.clear_faults().await?;
    let mut seen = Settled::default();
    seen.watch(ground, &buyers.paid, last_crash).await?;
    let (_, goods) = kinds(&buyers.paid);
    let verdict = judge(&ground.folder, &[], &goods, &seen.parked)?;
    let ours: BTreeSet<_> = buyers.paid.iter().map(|order| order.id).collect();
    Ok(WindowsReport {
        undelivered_crashes: crashes,
        delivered_crashes: crashes,
        parked: seen.parked.intersection(&ours).count(),
        submissions: verdict.submissions,
        duplicated: verdict.duplicated.len(),
        lost: verdict.lost.len(),
        stuck: seen.stuck(&buyers.paid).len(),
        goods_max_settle_seconds: seconds(seen.longest(buyers.paid.iter())),
    })
}

/// Held, then dropped without having been carried out.
const fn undelivered() -> Fault {
    Fault {
        handle: false,
        delay_before_ms: HELD_MS,
        delay_after_ms: 0,
        answer: FaultAnswer::Reset,
    }
}

/// Waits until the gateway holds the submission of an order that was paid for.
async fn held(ground: &mut Ground, buyers: &mut Buyers) -> Result<(), Failure> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        ground.fleet.tend()?;
        let through = buyers.note();
        let fired = ground.control.faults().await?.iter().any(|counts| counts.fired > 0);
        if through && fired {
            return Ok(());
        }
        if Instant::now() > deadline {
            return Err(Failure::unavailable("no worker submitted the order"));
        }
        tokio::time::sleep(LOOK).await;
    }
}

impl fmt::Display for WindowsReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} crashes before the gateway delivered, {} after: {} orders parked for a person after at most {} s, {} submissions, \
             {} orders submitted twice, {} lost, {} stuck",
            self.undelivered_crashes,
            self.delivered_crashes,
            self.parked,
            self.goods_max_settle_seconds,
            self.submissions,
            self.duplicated,
            self.lost,
            self.stuck
        )
    }
}
